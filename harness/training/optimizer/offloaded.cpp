#include "harness/training/optimizer/offloaded.h"

#include <utility>

namespace ddbench::ddp {
namespace {

using device::Buffer;
using device::Device;
using device::Tensor;

class Offloaded final : public Optimizer {
 public:
  Offloaded(std::vector<Slice> slices, Device& device, workload::Probe& probe, const MakeOptimizer& make)
      : device_(device),
        host_(device::make_device("cpu")),
        slices_(std::move(slices)),
        is_read_(slices_.size()),
        probe_(probe),
        gradient_name_(probe.intern("offload_gradients")),
        values_name_(probe.intern("upload_values")) {
    for (const Slice& slice : slices_) {
      Slice& copy = copies_.emplace_back(slice);
      copy.value = memory_for(slice.value);
      copy.gradient = memory_for(slice.gradient);
    }
    inner_ = make(copies_, *host_);
  }

  void update(std::size_t slice, std::uint32_t updates, double lr) override {
    const Slice& on_device = slices_[slice];
    const Slice& copy = copies_[slice];
    {
      const auto timed = probe_.span(SpanKind::kCopy, gradient_name_, copy.gradient.bytes());
      if (!is_read_[slice]) device_.download(on_device.value, copy.value.data);
      is_read_[slice] = true;
      device_.download(on_device.gradient, copy.gradient.data);
    }
    inner_->update(slice, updates, lr);
    // The device has taken the values of the step before: the gradients above came after them.
    const auto timed = probe_.span(SpanKind::kCopy, values_name_, copy.value.bytes());
    device_.upload(copy.value.data, on_device.value);
  }
  std::vector<NamedTensor> state() const override { return inner_->state(); }
  Device& state_device() override { return *host_; }
  std::int64_t offloaded_bytes() const override {
    std::int64_t bytes = 0;
    for (const Slice& copy : copies_) bytes += copy.value.bytes() + copy.gradient.bytes();
    for (const NamedTensor& state : inner_->state()) bytes += state.tensor.bytes();
    return bytes;
  }

 private:
  Tensor memory_for(const Tensor& tensor) {
    const std::int64_t bytes = tensor.bytes();
    memory_.push_back(device_.is_host() ? host_->allocate(bytes) : device_.allocate_host(bytes));
    Tensor copy = tensor;
    copy.data = memory_.back().data();
    return copy;
  }

  Device& device_;
  const std::unique_ptr<Device> host_;
  const std::vector<Slice> slices_;
  std::vector<Slice> copies_;
  std::vector<Buffer> memory_;  // of the copies
  std::vector<bool> is_read_;
  std::unique_ptr<Optimizer> inner_;
  workload::Probe& probe_;
  const std::uint32_t gradient_name_;
  const std::uint32_t values_name_;
};

}  // namespace

std::unique_ptr<Optimizer> make_offloaded(std::vector<Slice> slices, Device& device, workload::Probe& probe, const MakeOptimizer& make) {
  return std::make_unique<Offloaded>(std::move(slices), device, probe, make);
}

}  // namespace ddbench::ddp
