#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>

#include "core/clock.h"
#include "probes/cuda/cuda_probe.h"

namespace ddbench::cuda {

/// When the ranges of collectives were pushed and popped. NCCL starts the kernels of a communicator that does
/// not block from threads of its own, which no range of the caller's reaches; but whoever pushed one waits
/// for the collective's end before the next. Keeps the latest. Thread-safe.
class CollectiveTimes {
 public:
  static constexpr std::uint64_t kMost = 1u << 14;

  void begin(const Range& range, std::int64_t at_ns = now_ns()) noexcept {
    const std::lock_guard lock(mutex_);
    at(++last_) = {at_ns, std::numeric_limits<std::int64_t>::max(), range};
  }
  void end(std::int64_t at_ns = now_ns()) noexcept {
    const std::lock_guard lock(mutex_);
    at(last_).end_ns = at_ns;
  }
  /// The range that was pushed at a time; false where none was.
  bool find(std::int64_t at_ns, Range& range) const noexcept {
    const std::lock_guard lock(mutex_);
    for (std::uint64_t number = last_; number > 0 && last_ - number < kMost; --number) {
      const Pushed& pushed = at(number);
      if (pushed.begin_ns > at_ns) continue;
      if (at_ns > pushed.end_ns) return false;
      range = pushed.range;
      return true;
    }
    return false;
  }

 private:
  struct Pushed {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    Range range;
  };
  Pushed& at(std::uint64_t number) const noexcept { return (*ring_)[number % kMost]; }

  mutable std::mutex mutex_;
  std::uint64_t last_ = 0;  // counted from 1
  std::unique_ptr<std::array<Pushed, kMost>> ring_ = std::make_unique<std::array<Pushed, kMost>>();
};

}  // namespace ddbench::cuda
