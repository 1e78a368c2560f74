// GPT-2 (Radford et al. 2019): a decoder with the norms before attention and MLP; without dropout.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/model/architectures/models.h"
#include "harness/model/architectures/transformer.h"
#include "harness/model/layers/layers.h"

namespace ddbench::workload {
namespace {

constexpr float kDeviation = 0.02F;
constexpr float kEpsilon = 1e-5F;

// The published sizes; nano is nanoGPT's model for a CPU, with a character for a token.
constexpr TransformerShape kShapes[] = {{"nano", 4, 128, 4, 64, 65, 64},
                                        {"124m", 12, 768, 12, 1024, 50'257, 1024},
                                        {"355m", 24, 1024, 16, 1024, 50'257, 1024},
                                        {"774m", 36, 1280, 20, 1024, 50'257, 1024},
                                        {"1558m", 48, 1600, 25, 1024, 50'257, 1024}};

Value block(Network& network, const std::string& name, Value x, const TransformerShape& shape) {
  const LinearOptions plain{.weight = Initial::normal(kDeviation), .bias_values = Initial::constant(0)};
  // Projections onto the residual stream: their sum over all layers keeps its deviation.
  LinearOptions projection = plain;
  projection.weight = Initial::normal(kDeviation / std::sqrt(2.0F * static_cast<float>(shape.layers)));

  Value a = layer_norm(network, name + ".ln_1", x, kEpsilon);
  a = linear(network, name + ".attn.c_attn", a, 3 * shape.hidden, plain);
  a = attention(network, name + ".attn", a, shape.heads, device::AttentionMask::kCausal);
  a = linear(network, name + ".attn.c_proj", a, shape.hidden, projection);

  auto [sum, m] = add_layer_norm(network, name + ".attn.add", name + ".ln_2", x, a, kEpsilon);
  m = feed_forward(network,
                   {.expand = name + ".mlp.c_fc",
                    .gelu = name + ".mlp.gelu",
                    .contract = name + ".mlp.c_proj",
                    .hidden = 4 * shape.hidden,
                    .form = device::Gelu::kTanh,
                    .of_expand = plain,
                    .of_contract = projection},
                   m);
  return add(network, name + ".mlp.add", sum, m);
}

void describe(Network& network, const TransformerShape& shape) {
  const ParameterIndex tokens =
      embedding_table(network, "wte.weight", shape.vocabulary, shape.hidden, kDeviation);
  const ParameterIndex positions =
      embedding_table(network, "wpe.weight", shape.positions, shape.hidden, kDeviation);
  Value x =
      embed(network, "embed",
            {.tokens = tokens, .positions = positions, .sequence = shape.sequence, .columns = shape.hidden});
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    network.begin_segment();
    x = block(network, fmt::format("h.{}", i), x, shape);
    network.end_segment();
  }
  x = layer_norm(network, "ln_f", x, kEpsilon);
  cross_entropy(network, tied_linear(network, "lm_head", x, tokens, false));
}

}  // namespace

WorkloadInfo gpt2_info(const std::string& size) {
  const TransformerShape& shape = *std::find_if(std::begin(kShapes), std::end(kShapes),
                                                [&](const TransformerShape& s) { return s.size == size; });
  return transformer_info({.name = "gpt2-" + size,
                           .description = "GPT-2 language model",
                           .hidden = "width of the residual stream",
                           .describe = describe,
                           .task = {}},
                          shape);
}

}  // namespace ddbench::workload
