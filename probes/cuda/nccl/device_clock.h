#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace ddbench::nccl {

/// Converts a GPU's global timer to this process's now_ns(). What is known are pairs: a timer value, and a
/// host time at which it was seen, later by an unknown delay (NCCL's proxy thread polls). The pair with the
/// least delay bounds the offset: the smallest host - device of the last one to two windows is taken, so that
/// drift is followed. Converted times are late by that pair's delay, microseconds where a proxy thread spins.
class DeviceClock {
 public:
  static constexpr std::int64_t kWindowNs = 10'000'000'000;

  void observe(std::int64_t device_ns, std::int64_t host_ns) noexcept {
    if (host_ns - window_begin_ns_ > kWindowNs) {
      before_ = now_;
      now_ = kNone;
      window_begin_ns_ = host_ns;
    }
    now_ = std::min(now_, host_ns - device_ns);
  }
  bool known() const noexcept { return offset() != kNone; }
  std::int64_t to_host(std::int64_t device_ns) const noexcept { return device_ns + offset(); }

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::int64_t offset() const noexcept { return std::min(before_, now_); }

  std::int64_t window_begin_ns_ = 0;
  std::int64_t before_ = kNone;
  std::int64_t now_ = kNone;
};

}  // namespace ddbench::nccl
