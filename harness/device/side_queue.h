#pragma once

#include "harness/device/tensor.h"

namespace ddbench::device {

/// A second queue of a device, beside the one that computes: for what a communication thread does with gradients. Work
/// runs in the order of the calls, and in no order with the device's own queue: what it takes must be complete
/// (Device::wait_for), and what it gives is complete after synchronize(). Dense float32 tensors, both of a call of the
/// same shape. One thread at a time, which need not be the device's. The device outlives it.
class SideQueue {
 public:
  virtual ~SideQueue() = default;
  virtual void copy(const Tensor& source, const Tensor& destination) = 0;
  virtual void add(const Tensor& source, const Tensor& destination) = 0;  ///< destination += source
  virtual void scale(const Tensor& values, float factor) = 0;             ///< in place
  /// Blocks until all of it is done. Throws Error{kRunFailed} when some of it failed.
  virtual void synchronize() = 0;
};

}  // namespace ddbench::device
