// The Fashion-MNIST classifier of the DDP tutorials: a flattened 28x28 image -> hidden layers with ReLU -> 10
// logits, cross-entropy.
#include <fmt/format.h>

#include "core/error.h"
#include "core/text/number.h"
#include "harness/model/architectures/models.h"
#include "harness/model/data/datasets.h"
#include "harness/model/layers/layers.h"
#include "harness/model/layers/network_workload.h"

namespace ddbench::workload {
namespace {

constexpr std::int64_t kInputs = 28 * 28;
constexpr std::int64_t kClasses = 10;
constexpr std::int64_t kMaxWidth = 65'536;
constexpr std::size_t kMaxHidden = 64;
constexpr const char* kDefaultHidden = "512,512";

void describe(Network& network, const std::vector<std::int64_t>& hidden) {
  Value x = network.input(1, kInputs);
  std::size_t layer = 0;
  for (const std::int64_t width : hidden) {
    x = linear(network, fmt::format("layer{}", layer++), x, width, {.activation = device::Activation::kRelu});
  }
  cross_entropy(network, linear(network, fmt::format("layer{}", layer), x, kClasses));
}

std::unique_ptr<Dataset> make_dataset(const std::string& data, std::uint64_t seed) {
  if (data == "synthetic") {
    return make_synthetic({.features = kInputs, .classes = kClasses, .seed = seed});
  }
  std::unique_ptr<Dataset> dataset = make_idx(data);
  const std::int64_t pixels = dataset->shape().features;
  if (pixels != kInputs) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("the images in {} have {} pixels; workload mlp needs 28 x 28 = {}", data, pixels,
                            kInputs));
  }
  return dataset;
}

std::vector<std::int64_t> parse_hidden(const std::string& text) {
  std::vector<std::int64_t> widths;
  for (std::string_view left = text; !left.empty();) {
    const auto width = leading_number<std::int64_t>(left);
    const bool good = width && width->value >= 1 && width->value <= kMaxWidth &&
                      (width->rest.empty() || (width->rest.front() == ',' && width->rest.size() > 1));
    if (!good || widths.size() == kMaxHidden) {
      throw Error(ErrorCode::kBadInput, fmt::format("workload mlp: hidden \"{}\" is not allowed; give up to "
                                                    "{} widths of 1 to {} separated by commas "
                                                    "(\"{}\"), or nothing for no hidden layer",
                                                    text, kMaxHidden, kMaxWidth, kDefaultHidden));
    }
    widths.push_back(width->value);
    left = width->rest.substr(std::min<std::size_t>(1, width->rest.size()));
  }
  return widths;
}

std::unique_ptr<Workload> make_mlp(const WorkloadOptions& options) {
  const auto given = options.find("hidden");
  const auto hidden = parse_hidden(given == options.end() ? kDefaultHidden : given->second);
  return make_network_workload({.describe = [hidden](Network& network) { describe(network, hidden); },
                                .sample = {.features = kInputs},
                                .make_dataset = make_dataset});
}

}  // namespace

WorkloadInfo mlp_info() {
  return {
      .name = "mlp",
      .description =
          "Fashion-MNIST classifier of the DDP tutorials: 784 inputs, hidden layers with ReLU, 10 classes",
      .options = {{"hidden", kDefaultHidden, "widths of the hidden layers, separated by commas"}},
      .make = make_mlp};
}

}  // namespace ddbench::workload
