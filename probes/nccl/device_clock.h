#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace ddbench::nccl {

/// Converts a GPU's global timer to this process's now_ns(). What is known are pairs: a timer value, and a
/// host time at which it was seen, later by an unknown delay (NCCL's proxy thread polls). The pair with the
/// least delay bounds the offset host - device. So that drift is followed, and a pair that is much too late
/// does no harm, the bound grows with the time since, by kMostDrift. Converted times are late by the delay of
/// the best pair of late, microseconds where a proxy thread spins.
class DeviceClock {
 public:
  static constexpr std::int64_t kMostDrift = 10'000;  ///< one in so many: 100 ppm

  void observe(std::int64_t device_ns, std::int64_t host_ns) noexcept {
    offset_ns_ = std::min(most_offset_ns(host_ns), host_ns - device_ns);
    observed_ns_ = host_ns;
  }
  bool known() const noexcept { return offset_ns_ != kNone; }
  std::int64_t to_host(std::int64_t device_ns) const noexcept { return device_ns + offset_ns_; }
  /// The latest host time that the timer can stand for, at `now_ns`, however the clocks drift. Once known().
  std::int64_t latest(std::int64_t device_ns, std::int64_t now_ns) const noexcept {
    return device_ns + most_offset_ns(now_ns);
  }

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

  std::int64_t most_offset_ns(std::int64_t now_ns) const noexcept {
    return known() ? offset_ns_ + std::max<std::int64_t>(0, now_ns - observed_ns_) / kMostDrift : kNone;
  }

  std::int64_t offset_ns_ = kNone;
  std::int64_t observed_ns_ = 0;
};

}  // namespace ddbench::nccl
