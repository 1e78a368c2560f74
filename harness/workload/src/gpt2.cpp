// GPT-2 (Radford et al. 2019): a decoder with the norms before attention and MLP; without dropout.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ddbench/record/error.h"
#include "models.h"
#include "network/layers.h"
#include "network/network_workload.h"
#include "options.h"

namespace ddbench::workload {
namespace {

constexpr float kDeviation = 0.02F;
constexpr float kEpsilon = 1e-5F;

struct Shape {
  const char* size;
  std::int64_t layers;
  std::int64_t hidden;
  std::int64_t heads;
  std::int64_t sequence;
  std::int64_t vocabulary;
  std::int64_t positions;
};

// The published sizes; nano is nanoGPT's model for a CPU, with a character for a token.
constexpr Shape kShapes[] = {{"nano", 4, 128, 4, 64, 65, 64},
                             {"124m", 12, 768, 12, 1024, 50'257, 1024},
                             {"355m", 24, 1024, 16, 1024, 50'257, 1024},
                             {"774m", 36, 1280, 20, 1024, 50'257, 1024},
                             {"1558m", 48, 1600, 25, 1024, 50'257, 1024}};

Value block(Network& network, const std::string& name, Value x, const Shape& shape) {
  const LinearOptions plain{.weight = Initial::normal(kDeviation), .bias_values = Initial::constant(0)};
  // Projections onto the residual stream: their sum over all layers keeps its deviation.
  LinearOptions projection = plain;
  projection.weight = Initial::normal(kDeviation / std::sqrt(2.0F * static_cast<float>(shape.layers)));

  Value a = layer_norm(network, name + ".ln_1", x, kEpsilon);
  a = linear(network, name + ".attn.c_attn", a, 3 * shape.hidden, plain);
  a = attention(network, name + ".attn", a, shape.heads, device::AttentionMask::kCausal);
  a = linear(network, name + ".attn.c_proj", a, shape.hidden, projection);
  x = add(network, name + ".attn.add", x, a);

  Value m = layer_norm(network, name + ".ln_2", x, kEpsilon);
  m = linear(network, name + ".mlp.c_fc", m, 4 * shape.hidden, plain);
  m = gelu(network, name + ".mlp.gelu", m, device::Gelu::kTanh);
  m = linear(network, name + ".mlp.c_proj", m, shape.hidden, projection);
  return add(network, name + ".mlp.add", x, m);
}

void describe(Network& network, const Shape& shape) {
  const ParameterIndex tokens =
      embedding_table(network, "wte.weight", shape.vocabulary, shape.hidden, kDeviation);
  const ParameterIndex positions =
      embedding_table(network, "wpe.weight", shape.positions, shape.hidden, kDeviation);
  Value x =
      embed(network, "embed",
            {.tokens = tokens, .positions = positions, .sequence = shape.sequence, .columns = shape.hidden});
  for (std::int64_t i = 0; i < shape.layers; ++i) x = block(network, fmt::format("h.{}", i), x, shape);
  x = layer_norm(network, "ln_f", x, kEpsilon);
  cross_entropy(network, tied_linear(network, "lm_head", x, tokens, false));
}

std::unique_ptr<Workload> make_gpt2(const std::string& name, Shape shape, const WorkloadOptions& options) {
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
                                      return data == "synthetic" ? make_synthetic_tokens(tokens, seed)
                                                                 : make_token_file(data, tokens);
                                    }});
}

}  // namespace

WorkloadInfo gpt2_info(const std::string& size) {
  const Shape& shape =
      *std::find_if(std::begin(kShapes), std::end(kShapes), [&](const Shape& s) { return s.size == size; });
  const std::string name = "gpt2-" + size;
  return {.name = name,
          .description = fmt::format("GPT-2 language model: {} layers of width {}, {} heads", shape.layers,
                                     shape.hidden, shape.heads),
          .options = {{"sequence", std::to_string(shape.sequence),
                       fmt::format("tokens a sample; more than {} adds positions", shape.positions)},
                      {"layers", std::to_string(shape.layers), "transformer blocks"},
                      {"hidden", std::to_string(shape.hidden), "width of the residual stream"},
                      {"heads", std::to_string(shape.heads), "attention heads; they divide hidden"},
                      {"vocabulary", std::to_string(shape.vocabulary), "tokens there are"}},
          .make = [name, shape](const WorkloadOptions& options) { return make_gpt2(name, shape, options); }};
}

}  // namespace ddbench::workload
