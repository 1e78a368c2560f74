#pragma once

#include <algorithm>
#include <cstdint>

#include "core/clock.h"

namespace ddbench::inject {

/// What the hooks of one thread cost it, as they measure themselves. Two readings of the clock would double that of a short one:
/// one hook in sixteen is timed, at random distances, so that none that returns in each step is always or never timed, and
/// counts sixteen times.
class HookCost {
 public:
  /// At a hook's begin: now where it is to be timed, else 0.
  std::int64_t enter() noexcept {
    if (--until_timed_ > 0) return 0;
    random_ ^= random_ << 13;
    random_ ^= random_ >> 17;
    random_ ^= random_ << 5;
    until_timed_ = 1 + static_cast<int>(random_ % (2 * kEach - 1));  // kEach in the mean
    ++timed_;
    return now_ns();
  }
  /// Of a hook that is timed, a part of what it took. One that takes longer than kLongest_ns has lost its core meanwhile: sixteen
  /// times that wait would be no cost of hooks.
  void add(std::int64_t ns) noexcept { ns_ += kEach * std::min(ns, kLongest_ns); }
  /// Of one that is timed always.
  void add_whole(std::int64_t ns) noexcept { ns_ += ns; }
  /// Whether a report is due although no mark has come.
  bool is_due() const noexcept { return timed_ >= 32; }
  /// All since the last call.
  std::int64_t take() noexcept {
    const std::int64_t ns = ns_;
    ns_ = 0;
    timed_ = 0;
    return ns;
  }

 private:
  static constexpr int kEach = 16;
  static constexpr std::int64_t kLongest_ns = 20'000;  // most take less than 1,000
  std::uint32_t random_ = 2463534242u;  // Marsaglia's xorshift, which is never 0
  int until_timed_ = kEach;
  int timed_ = 0;
  std::int64_t ns_ = 0;
};

}  // namespace ddbench::inject
