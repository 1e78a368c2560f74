// BERT (Devlin et al. 2018) for masked language modelling: an encoder with the norms after attention and MLP;
// without dropout, and without the pooler, which this task does not use.
#include <fmt/format.h>

#include <algorithm>

#include "ddbench/record/error.h"
#include "models.h"
#include "network/layers.h"
#include "network/network_workload.h"
#include "options.h"

namespace ddbench::workload {
namespace {

constexpr float kDeviation = 0.02F;
constexpr float kEpsilon = 1e-12F;
constexpr std::int32_t kMaskToken = 103;  // [MASK] of the uncased vocabulary

struct Shape {
  const char* size;
  std::int64_t layers;
  std::int64_t hidden;
  std::int64_t heads;
  std::int64_t sequence = 128;
  std::int64_t vocabulary = 30'522;
  std::int64_t positions = 512;
};

constexpr Shape kShapes[] = {{"base", 12, 768, 12}, {"large", 24, 1024, 16}};

const LinearOptions kDense{.weight = Initial::normal(kDeviation), .bias_values = Initial::constant(0)};

Value block(Network& network, const std::string& name, Value x, const Shape& shape) {
  Value a = linear(network, name + ".attention.self.qkv", x, 3 * shape.hidden, kDense);
  a = attention(network, name + ".attention.self", a, shape.heads, device::AttentionMask::kNone);
  a = linear(network, name + ".attention.output.dense", a, shape.hidden, kDense);
  x = add(network, name + ".attention.output.add", x, a);
  x = layer_norm(network, name + ".attention.output.LayerNorm", x, kEpsilon);

  Value m = linear(network, name + ".intermediate.dense", x, 4 * shape.hidden, kDense);
  m = gelu(network, name + ".intermediate.gelu", m, device::Gelu::kErf);
  m = linear(network, name + ".output.dense", m, shape.hidden, kDense);
  x = add(network, name + ".output.add", x, m);
  return layer_norm(network, name + ".output.LayerNorm", x, kEpsilon);
}

void describe(Network& network, const Shape& shape) {
  const auto table = [&](const char* name, std::int64_t rows) {
    return embedding_table(network, fmt::format("embeddings.{}.weight", name), rows, shape.hidden,
                           kDeviation);
  };
  const ParameterIndex words = table("word_embeddings", shape.vocabulary);
  const ParameterIndex positions = table("position_embeddings", shape.positions);
  const ParameterIndex types = table("token_type_embeddings", 2);
  Value x = embed(network, "embeddings",
                  {.tokens = words,
                   .positions = positions,
                   .has_types = true,
                   .types = types,
                   .sequence = shape.sequence,
                   .columns = shape.hidden});
  x = layer_norm(network, "embeddings.LayerNorm", x, kEpsilon);
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    x = block(network, fmt::format("encoder.layer.{}", i), x, shape);
  }
  x = linear(network, "cls.predictions.transform.dense", x, shape.hidden, kDense);
  x = gelu(network, "cls.predictions.transform.gelu", x, device::Gelu::kErf);
  x = layer_norm(network, "cls.predictions.transform.LayerNorm", x, kEpsilon);
  cross_entropy(network, tied_linear(network, "cls.predictions", x, words, true));
}

std::unique_ptr<Workload> make_bert(const std::string& name, Shape shape, const WorkloadOptions& options) {
  const auto number = [&](const char* option, std::int64_t& value, std::int64_t most) {
    value = number_option(name, options, option, value, 1, most);
  };
  number("sequence", shape.sequence, 65'536);
  number("layers", shape.layers, 1024);
  number("hidden", shape.hidden, 65'536);
  number("heads", shape.heads, 1024);
  number("vocabulary", shape.vocabulary, 65'536);
  if (shape.hidden % shape.heads != 0) {
    throw Error(ErrorCode::kBadInput, fmt::format("workload {}: hidden {} is no multiple of heads {}", name,
                                                  shape.hidden, shape.heads));
  }
  shape.positions = std::max(shape.positions, shape.sequence);
  const TokenOptions tokens{.sequence = shape.sequence,
                            .vocabulary = static_cast<std::int32_t>(shape.vocabulary)};
  return make_network_workload({.describe = [shape](Network& network) { describe(network, shape); },
                                .sample = {device::DataType::kInt32, shape.sequence, shape.sequence},
                                .make_dataset =
                                    [tokens](const std::string& data, std::uint64_t seed) {
                                      return make_masked(data == "synthetic"
                                                             ? make_synthetic_tokens(tokens, seed)
                                                             : make_token_file(data, tokens),
                                                         std::min(kMaskToken, tokens.vocabulary - 1), seed);
                                    }});
}

}  // namespace

WorkloadInfo bert_info(const std::string& size) {
  const Shape& shape =
      *std::find_if(std::begin(kShapes), std::end(kShapes), [&](const Shape& s) { return s.size == size; });
  const std::string name = "bert-" + size;
  return {.name = name,
          .description = fmt::format("BERT encoder with masked-LM loss: {} layers of width {}, {} heads",
                                     shape.layers, shape.hidden, shape.heads),
          .options = {{"sequence", std::to_string(shape.sequence),
                       fmt::format("tokens a sample; more than {} adds positions", shape.positions)},
                      {"layers", std::to_string(shape.layers), "transformer blocks"},
                      {"hidden", std::to_string(shape.hidden), "width of the encoder"},
                      {"heads", std::to_string(shape.heads), "attention heads; they divide hidden"},
                      {"vocabulary", std::to_string(shape.vocabulary), "tokens there are"}},
          .make = [name, shape](const WorkloadOptions& options) { return make_bert(name, shape, options); }};
}

}  // namespace ddbench::workload
