// BERT (Devlin et al. 2018) for masked language modelling: an encoder with the norms after attention and MLP;
// without dropout, and without the pooler, which this task does not use.
#include <fmt/format.h>

#include <algorithm>

#include "harness/model/architectures/models.h"
#include "harness/model/architectures/transformer.h"
#include "harness/model/data/datasets.h"
#include "harness/model/layers/layers.h"

namespace ddbench::workload {
namespace {

constexpr float kDeviation = 0.02F;
constexpr float kEpsilon = 1e-12F;
constexpr std::int32_t kMaskToken = 103;  // [MASK] of the uncased vocabulary

constexpr TransformerShape kShapes[] = {{"base", 12, 768, 12, 128, 30'522, 512},
                                        {"large", 24, 1024, 16, 128, 30'522, 512}};

const LinearOptions kDense{.weight = Initial::normal(kDeviation), .bias_values = Initial::constant(0)};

Value block(Network& network, const std::string& name, Value x, const TransformerShape& shape) {
  Value a = linear(network, name + ".attention.self.qkv", x, 3 * shape.hidden, kDense);
  a = attention(network, name + ".attention.self", a, shape.heads, device::AttentionMask::kNone);
  a = linear(network, name + ".attention.output.dense", a, shape.hidden, kDense);
  x = add_layer_norm(network, name + ".attention.output.add", name + ".attention.output.LayerNorm", x, a, kEpsilon).norm;

  Value m = linear(network, name + ".intermediate.dense", x, 4 * shape.hidden, kDense);
  m = gelu(network, name + ".intermediate.gelu", m, device::Gelu::kErf);
  m = linear(network, name + ".output.dense", m, shape.hidden, kDense);
  return add_layer_norm(network, name + ".output.add", name + ".output.LayerNorm", x, m, kEpsilon).norm;
}

void describe(Network& network, const TransformerShape& shape) {
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
    network.begin_segment();
    x = block(network, fmt::format("encoder.layer.{}", i), x, shape);
    network.end_segment();
  }
  x = linear(network, "cls.predictions.transform.dense", x, shape.hidden, kDense);
  x = gelu(network, "cls.predictions.transform.gelu", x, device::Gelu::kErf);
  x = layer_norm(network, "cls.predictions.transform.LayerNorm", x, kEpsilon);
  cross_entropy(network, tied_linear(network, "cls.predictions", x, words, true));
}

}  // namespace

WorkloadInfo bert_info(const std::string& size) {
  const TransformerShape& shape = *std::find_if(std::begin(kShapes), std::end(kShapes),
                                                [&](const TransformerShape& s) { return s.size == size; });
  return transformer_info({.name = "bert-" + size,
                           .description = "BERT encoder with masked-LM loss",
                           .hidden = "width of the encoder",
                           .describe = describe,
                           .task =
                               [](std::unique_ptr<Dataset> sequences, std::uint64_t seed) {
                                 const std::int32_t mask = std::min(kMaskToken, sequences->classes() - 1);
                                 return make_masked(std::move(sequences), mask, seed);
                               }},
                          shape);
}

}  // namespace ddbench::workload
