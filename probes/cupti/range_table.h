#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>

#include "probes/cuda/cuda_probe.h"

namespace ddbench::cuda {

/// The latest ranges by the external id that CUPTI carries for them. Records come at most a few seconds after
/// the call: older ranges make place. Thread-safe.
class RangeTable {
 public:
  static constexpr std::uint64_t kRanges = 1u << 17;

  /// Its id; counts from 1.
  std::uint64_t add(const Range& range) noexcept {
    const std::lock_guard lock(mutex_);
    const std::uint64_t id = ++last_;
    (*ranges_)[id % kRanges] = range;
    return id;
  }
  /// Whether there ever was one.
  bool any() const noexcept {
    const std::lock_guard lock(mutex_);
    return last_ > 0;
  }
  /// False when it has made place.
  bool find(std::uint64_t id, Range& range) const noexcept {
    const std::lock_guard lock(mutex_);
    if (id == 0 || id > last_ || last_ - id >= kRanges) return false;
    range = (*ranges_)[id % kRanges];
    return true;
  }

 private:
  mutable std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::unique_ptr<std::array<Range, kRanges>> ranges_ = std::make_unique<std::array<Range, kRanges>>();
};

}  // namespace ddbench::cuda
