#pragma once

#include <cstdint>
#include <vector>

#include "harness/device/device.h"
#include "harness/model/layers/network.h"
#include "harness/model/model.h"

namespace ddbench::workload {

/// The interned names of a node's spans.
struct SpanNames {
  std::uint32_t forward = 0;
  std::uint32_t backward = 0;
  std::uint32_t backward_input = 0;
  std::uint32_t backward_weight = 0;
  std::uint32_t again = 0;
};

/// What a layer sees of its model while the model computes.
class Pass {
 public:
  device::Device& device() noexcept { return *device_; }
  const Batch& batch() const noexcept { return *batch_; }
  std::int64_t batch_size() const noexcept { return batch_size_; }
  /// Where the last layer leaves the loss.
  const device::Tensor& loss() const noexcept { return loss_; }
  /// What its gradients are multiplied by.
  float loss_scale() const noexcept { return loss_scale_; }

  const device::Tensor& operator[](Value value) const { return values_[value.id]; }
  const device::Tensor& gradient(Value value) const { return gradients_[value.id]; }
  /// In the type of activations.
  const device::Tensor& weight(ParameterIndex parameter) const { return weights_[parameter]; }
  /// In float32.
  const device::Tensor& vector(ParameterIndex parameter) const { return parameters_[parameter].value; }
  const device::Tensor& gradient_of(ParameterIndex parameter) const {
    return parameters_[parameter].gradient;
  }

  bool needs_gradient(Value value) const { return gradients_[value.id].data != nullptr; }
  /// How to write the gradient of `value`: over what is there, or, after another layer has written it, to it.
  device::GradientWrite write(Value value) {
    const bool again = written_[value.id];
    written_[value.id] = true;
    return again ? device::GradientWrite::kAccumulate : device::GradientWrite::kOverwrite;
  }
  /// The gradient of `value` through compute(dx), which can only overwrite.
  template <typename Compute>
  void write_by(Value value, const Compute& compute) {
    if (write(value) == device::GradientWrite::kOverwrite) {
      compute(gradient(value));
      return;
    }
    device::Tensor part = gradient(value);
    part.data = spare_;
    compute(part);
    device_->add(part, gradient(value));
  }
  device::GradientWrite write(ParameterIndex parameter) {
    const bool first = parameter_writes_[parameter]++ == 0;
    return first ? device::GradientWrite::kOverwrite : device::GradientWrite::kAccumulate;
  }
  /// Whether the node is computed for the second time, for backward.
  bool is_again() const noexcept { return again_; }
  /// The layer will not touch the parameter's gradient any more.
  void finish(ParameterIndex parameter) {
    if (parameter_writes_[parameter] == parameter_uses_[parameter]) (*ready_)(parameter);
  }

  /// What is computed again belongs to backward.
  [[nodiscard]] OperatorSpan forward_span() {
    return again_ ? probe_->span(SpanKind::kBackward, names_->again) : probe_->span(SpanKind::kForward, names_->forward);
  }
  [[nodiscard]] OperatorSpan backward_span() { return probe_->span(SpanKind::kBackward, names_->backward); }
  [[nodiscard]] OperatorSpan input_span() {
    return probe_->span(SpanKind::kBackward, names_->backward_input);
  }
  [[nodiscard]] OperatorSpan weight_span() {
    return probe_->span(SpanKind::kBackward, names_->backward_weight);
  }

 private:
  friend class NetworkModel;

  device::Device* device_ = nullptr;
  const Batch* batch_ = nullptr;
  Probe* probe_ = nullptr;
  const GradientReady* ready_ = nullptr;
  const SpanNames* names_ = nullptr;  // of the node that computes
  std::int64_t batch_size_ = 0;
  device::Tensor loss_;
  float loss_scale_ = 1;
  bool again_ = false;
  void* spare_ = nullptr;                  // the node's own memory for write_by
  std::vector<device::Tensor> values_;     // by value
  std::vector<device::Tensor> gradients_;  // by value
  std::vector<bool> written_;              // by value: its gradient, in this backward
  std::vector<Parameter> parameters_;
  std::vector<device::Tensor> weights_;  // by parameter
  std::vector<int> parameter_writes_;    // by parameter, in this backward
  std::vector<int> parameter_uses_;      // by parameter
};

}  // namespace ddbench::workload
