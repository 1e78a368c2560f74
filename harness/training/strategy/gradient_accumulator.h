#pragma once

#include <vector>

#include "harness/device/device.h"
#include "harness/model/probe.h"

namespace ddbench::ddp {

/// The mean of a step's micro-batches, kept beside what backward overwrites. Each index names one gradient.
/// Needs no memory for one micro-batch.
class GradientAccumulator {
 public:
  GradientAccumulator(int micro_batches, device::Device& device, workload::Probe& probe)
      : micro_batches_(micro_batches), device_(device), probe_(probe), name_(probe.intern("accumulate")) {}

  /// For each gradient of add() and finish(), in their order.
  void reserve(const std::vector<device::Tensor>& gradients);
  /// Micro-batch 0, 1, ... but not the last: keeps `gradient`.
  void add(std::size_t index, int micro_batch, const device::Tensor& gradient);
  /// The last micro-batch: `gradient` becomes the mean of all.
  void finish(std::size_t index, const device::Tensor& gradient);

 private:
  const int micro_batches_;
  device::Device& device_;
  workload::Probe& probe_;
  const std::uint32_t name_;
  std::vector<device::Buffer> memory_;
  std::vector<device::Tensor> sums_;
};

}  // namespace ddbench::ddp
