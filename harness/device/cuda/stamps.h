#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "harness/device/gpu/gpu.h"

namespace ddbench::device::cuda {

/// A point of a stream whose time on now_ns()'s clock is known: the reference for the GPU's times.
class Anchor {
 public:
  /// Takes an event with timing.
  explicit Anchor(gpu::Event event) : event_(std::move(event)) {}
  /// Waits until the stream has reached this point. The time is late by the microseconds that the
  /// notification takes.
  void drop(cudaStream_t stream);
  /// The time of an event that has passed, before or after the anchor.
  std::int64_t time_of(cudaEvent_t event) const;

 private:
  const gpu::Event event_;
  std::int64_t at_ns_ = 0;
};

/// Points of streams at which the time is noted.
class Stamps {
 public:
  /// Returns how many were added before. `flags` as for cudaEventRecordWithFlags. Failures are reported by
  /// read().
  std::size_t add(cudaStream_t stream, unsigned flags) noexcept;
  /// When they were passed, all of which they must have been.
  void read(const Anchor& anchor, std::vector<std::int64_t>& times_ns) const;
  /// They cannot be relied on, unless `status` is success.
  void fail(cudaError_t status) noexcept {
    if (failure_ == cudaSuccess) failure_ = status;
  }
  void check() const { gpu::check(failure_, "time what is queued"); }
  /// Keeps the events for the next ones.
  void clear() noexcept { used_ = 0; }

 private:
  std::vector<gpu::Event> events_;
  std::size_t used_ = 0;
  cudaError_t failure_ = cudaSuccess;
};

}  // namespace ddbench::device::cuda
