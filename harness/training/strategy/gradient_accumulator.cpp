#include "harness/training/strategy/gradient_accumulator.h"

namespace ddbench::ddp {

void GradientAccumulator::reserve(const std::vector<device::Tensor>& gradients) {
  if (micro_batches_ == 1) return;
  for (const device::Tensor& gradient : gradients) {
    memory_.push_back(device_.allocate(gradient.bytes(), device::MemoryUse::kGradients));
    sums_.push_back({memory_.back().data(), gradient.rows, gradient.columns});
  }
}

void GradientAccumulator::add(std::size_t index, int micro_batch, const device::Tensor& gradient) {
  const auto span = probe_.span(SpanKind::kBackward, name_, gradient.bytes());
  if (micro_batch == 0) {
    device_.copy(gradient, sums_[index]);
  } else {
    device_.add_scaled(gradient, 1, sums_[index]);
  }
}

void GradientAccumulator::finish(std::size_t index, const device::Tensor& gradient) {
  if (micro_batches_ == 1) return;
  const auto span = probe_.span(SpanKind::kBackward, name_, gradient.bytes());
  device_.add_scaled(sums_[index], 1, gradient);
  device_.scale(gradient, 1.0F / static_cast<float>(micro_batches_));
}

}  // namespace ddbench::ddp
