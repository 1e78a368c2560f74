#include "harness/model/architectures/transformer.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "harness/model/architectures/models.h"
#include "harness/model/data/datasets.h"
#include "harness/model/layers/network_workload.h"
#include "harness/model/options.h"

namespace ddbench::workload {
namespace {

TransformerShape with_options(const std::string& name, TransformerShape shape,
                              const WorkloadOptions& options) {
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
  shape.recompute = recompute_option(name, options);
  shape.positions = std::max(shape.positions, shape.sequence);
  return shape;
}

std::unique_ptr<Workload> make_transformer(const Transformer& transformer, const TransformerShape& shape) {
  const TokenOptions tokens{.sequence = shape.sequence,
                            .vocabulary = static_cast<std::int32_t>(shape.vocabulary)};
  return make_network_workload({.describe = [=](Network& network) {
                                  transformer.describe(network, shape);
                                  if (shape.recompute) network.recompute_segments();
                                },
                                .sample = {device::DataType::kInt32, shape.sequence, shape.sequence},
                                .make_dataset =
                                    [=](const std::string& data, std::uint64_t seed) {
                                      auto sequences = data == "synthetic"
                                                           ? make_synthetic_tokens(tokens, seed)
                                                           : make_token_file(data, tokens);
                                      return transformer.task ? transformer.task(std::move(sequences), seed)
                                                              : std::move(sequences);
                                    }});
}

}  // namespace

WorkloadInfo transformer_info(const Transformer& transformer, const TransformerShape& shape) {
  return {.name = transformer.name,
          .description = fmt::format("{}: {} layers of width {}, {} heads", transformer.description,
                                     shape.layers, shape.hidden, shape.heads),
          .options = {{"sequence", std::to_string(shape.sequence),
                       fmt::format("tokens a sample; more than {} adds positions", shape.positions)},
                      {"layers", std::to_string(shape.layers), "transformer blocks"},
                      {"hidden", std::to_string(shape.hidden), transformer.hidden},
                      {"heads", std::to_string(shape.heads), "attention heads; they divide hidden"},
                      {"vocabulary", std::to_string(shape.vocabulary), "tokens there are"},
                      recompute_info()},
          .make = [=](const WorkloadOptions& options) {
            return make_transformer(transformer, with_options(transformer.name, shape, options));
          }};
}

}  // namespace ddbench::workload
