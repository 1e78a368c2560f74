// The Fashion-MNIST classifier of the DDP tutorials: a flattened 28x28 image -> hidden layers with ReLU -> 10
// logits, cross-entropy.
#include "mlp.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "ddbench/record/error.h"

namespace ddbench::workload {
namespace {

using device::Activation;
using device::Tensor;

constexpr std::int64_t kInputs = 28 * 28;
constexpr std::int64_t kClasses = 10;
constexpr std::int64_t kMaxWidth = 65'536;
constexpr std::size_t kMaxHidden = 64;
constexpr const char* kDefaultHidden = "512,512";

struct Layer {
  Tensor x;  // input: the batch, or the output of the layer before
  Tensor y;
  Tensor dy;
  Activation activation = Activation::kRelu;
  std::uint32_t forward_name = 0;
  std::uint32_t backward_input_name = 0;
  std::uint32_t backward_weight_name = 0;
  std::uint32_t backward_relu_name = 0;
};

class Mlp final : public Model {
 public:
  Mlp(device::Device& device, std::vector<Parameter> parameters, std::int64_t batch, Probe& probe)
      : device_(device), parameters_(std::move(parameters)), loss_name_(probe.intern("cross_entropy")) {
    loss_ = tensor(1, 1);
    for (std::size_t i = 0; i < parameters_.size() / 2; ++i) {
      const std::int64_t width = weight(i).spec.rows;
      layers_.push_back({.x = i == 0 ? Tensor{} : layers_.back().y,
                         .y = tensor(batch, width),
                         .dy = tensor(batch, width),
                         .forward_name = probe.intern(fmt::format("layer{}.forward", i)),
                         .backward_input_name = probe.intern(fmt::format("layer{}.backward_input", i)),
                         .backward_weight_name = probe.intern(fmt::format("layer{}.backward_weight", i)),
                         .backward_relu_name = probe.intern(fmt::format("layer{}.backward_relu", i))});
    }
    layers_.back().activation = Activation::kNone;
  }

  double forward(const Batch& batch, Probe& probe) override {
    layers_.front().x = batch.inputs;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      const auto span = probe.span(SpanKind::kForward, layer.forward_name);
      device_.linear_forward(layer.x, weight(i).value, bias(i).value, layer.activation, layer.y);
    }
    const Layer& last = layers_.back();
    const auto span = probe.span(SpanKind::kForward, loss_name_);
    device_.softmax_cross_entropy(last.y, batch.labels, loss_, last.dy);
    device_.synchronize();
    return loss_.floats()[0];
  }

  void backward(const Batch&, Probe& probe, const GradientReady& ready) override {
    for (std::size_t i = layers_.size(); i-- > 0;) {
      const Layer& layer = layers_[i];
      if (layer.activation == Activation::kRelu) {
        const auto span = probe.span(SpanKind::kBackward, layer.backward_relu_name);
        device_.relu_backward(layer.y, layer.dy);
      }
      {
        const auto span = probe.span(SpanKind::kBackward, layer.backward_weight_name);
        device_.linear_backward_weight(layer.x, layer.dy, device::GradientWrite::kOverwrite,
                                       weight(i).gradient, bias(i).gradient);
      }
      ready(2 * i + 1);
      ready(2 * i);
      if (i > 0) {  // nobody asks for the gradient of the data
        const auto span = probe.span(SpanKind::kBackward, layer.backward_input_name);
        device_.linear_backward_input(layer.dy, weight(i).value, device::GradientWrite::kOverwrite,
                                      layers_[i - 1].dy);
      }
    }
  }

 private:
  const Parameter& weight(std::size_t layer) const { return parameters_[2 * layer]; }
  const Parameter& bias(std::size_t layer) const { return parameters_[2 * layer + 1]; }

  Tensor tensor(std::int64_t rows, std::int64_t columns) {
    memory_.push_back(device_.allocate(rows * columns * size_of(device::DataType::kFloat32)));
    return {memory_.back().data(), rows, columns};
  }

  device::Device& device_;
  std::vector<Parameter> parameters_;
  std::vector<device::Buffer> memory_;
  std::vector<Layer> layers_;
  Tensor loss_;
  std::uint32_t loss_name_;
};

class MlpWorkload final : public Workload {
 public:
  /// `widths`: inputs, hidden layers, classes.
  explicit MlpWorkload(std::vector<std::int64_t> widths) : widths_(std::move(widths)) {}

  std::vector<ParameterSpec> parameters() const override {
    std::vector<ParameterSpec> specs;
    for (std::size_t i = 0; i + 1 < widths_.size(); ++i) {
      const std::int64_t in = widths_[i];
      const std::int64_t out = widths_[i + 1];
      specs.push_back({fmt::format("layer{}.weight", i), out, in, in});
      specs.push_back({fmt::format("layer{}.bias", i), 1, out, in});
    }
    return specs;
  }

  double flops_per_sample() const override {
    // Forward, gradient of the weights, gradient of the input (not for the first layer): 2 operations a
    // weight each.
    double flops = 0;
    for (std::size_t i = 0; i + 1 < widths_.size(); ++i) {
      flops += (i == 0 ? 4.0 : 6.0) * static_cast<double>(widths_[i] * widths_[i + 1]);
    }
    return flops;
  }

  std::int64_t activation_bytes(std::int64_t batch) const override {
    std::int64_t numbers = 0;
    for (std::size_t i = 1; i < widths_.size(); ++i) numbers += 2 * batch * widths_[i];
    return numbers * size_of(device::DataType::kFloat32);
  }

  std::int64_t features() const override { return kInputs; }

  std::unique_ptr<Dataset> make_dataset(const std::string& data, std::uint64_t seed) const override {
    if (data == "synthetic") {
      return make_synthetic({.features = kInputs, .classes = kClasses, .seed = seed});
    }
    std::unique_ptr<Dataset> dataset = make_idx(data);
    if (dataset->features() != kInputs) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("the images in {} have {} pixels; workload mlp needs 28 x 28 = {}", data,
                              dataset->features(), kInputs));
    }
    return dataset;
  }

  std::unique_ptr<Model> make_model(device::Device& device, std::vector<Parameter> parameters,
                                    std::int64_t batch, Probe& probe) const override {
    return std::make_unique<Mlp>(device, std::move(parameters), batch, probe);
  }

 private:
  std::vector<std::int64_t> widths_;
};

std::vector<std::int64_t> parse_hidden(const std::string& text) {
  std::vector<std::int64_t> widths;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    std::int64_t width = 0;
    const auto [rest, error] = std::from_chars(at, end, width);
    const bool good = error == std::errc() && width >= 1 && width <= kMaxWidth &&
                      (rest == end || (*rest == ',' && rest + 1 < end));
    if (!good || widths.size() == kMaxHidden) {
      throw Error(ErrorCode::kBadInput, fmt::format("workload mlp: hidden \"{}\" is not allowed; give up to "
                                                    "{} widths of 1 to {} separated by commas "
                                                    "(\"{}\"), or nothing for no hidden layer",
                                                    text, kMaxHidden, kMaxWidth, kDefaultHidden));
    }
    widths.push_back(width);
    at = rest == end ? end : rest + 1;
  }
  return widths;
}

std::unique_ptr<Workload> make_mlp(const WorkloadOptions& options) {
  const auto hidden = options.find("hidden");
  std::vector<std::int64_t> widths = parse_hidden(hidden == options.end() ? kDefaultHidden : hidden->second);
  widths.insert(widths.begin(), kInputs);
  widths.push_back(kClasses);
  return std::make_unique<MlpWorkload>(std::move(widths));
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
