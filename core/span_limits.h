#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "core/clock.h"
#include "core/span.h"

/// Limits on values that come from outside: a spool file, a rank's message, a stored chunk. They are checked
/// once, where the value enters; code behind that may rely on them. Within them no difference of two times
/// overflows int64, also after both were shifted by a clock offset and multiplied by up to 8. Sums over any
/// number of spans use add_ns().
namespace ddbench {

/// Times lie in [-kLatest_ns, kLatest_ns]: nine years around the start of the machine, whose CLOCK_MONOTONIC
/// they are.
inline constexpr std::int64_t kLatest_ns = std::int64_t{1} << 58;
/// Times of CLOCK_REALTIME lie in [0, kLatestWall_ns], from 1970 to 2116; the sum with a time from above is one of int64.
inline constexpr std::int64_t kLatestWall_ns = std::int64_t{1} << 62;
/// Ranks are numbered from 0 to kMostRanks - 1; nodes, too.
inline constexpr int kMostRanks = 65'536;
/// Other code counts steps with an int.
inline constexpr std::uint32_t kLastStep = std::numeric_limits<std::int32_t>::max() - 1;
/// Limit for one collective or copy, or for a process's memory: 1 EiB.
inline constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60;

constexpr bool is_time(std::int64_t time_ns) noexcept {
  return time_ns >= -kLatest_ns && time_ns <= kLatest_ns;
}

/// Whether kind, lane, times, bytes and step are within the limits. Spans that end before they begin pass:
/// the store has kept such spans of earlier versions, and the analyzer counts and leaves out those.
constexpr bool within_limits(const Span& span) noexcept {
  return static_cast<int>(span.kind) < kSpanKindCount && static_cast<int>(span.lane) < kLaneCount &&
         is_time(span.begin_ns) && is_time(span.end_ns) && span.bytes <= kMostBytes &&
         (span.step <= kLastStep || span.step == kNoStep);
}

/// Whether a recorder can have written the span: within the limits, in order of time, and with one of the
/// `names` names that are known so far.
constexpr bool is_valid(const Span& span, std::size_t names) noexcept {
  return within_limits(span) && span.begin_ns <= span.end_ns && span.name_id < names;
}

/// What keeps the span from being valid, with the value: "kind 255 is unknown". Empty when it is valid.
std::string why_invalid(const Span& span, std::size_t names = std::numeric_limits<std::size_t>::max());

/// Whether the reading is one that reading_from_pings() can give: times within the limits, the offset within
/// twice that, and an uncertainty that is not negative.
constexpr bool within_limits(const ClockReading& reading) noexcept {
  return is_time(reading.at_ns) && reading.offset_ns >= -2 * kLatest_ns &&
         reading.offset_ns <= 2 * kLatest_ns && reading.uncertainty_ns >= 0 &&
         reading.uncertainty_ns <= 2 * kLatest_ns;
}

/// a + b, or the end of int64 that it lies beyond.
constexpr std::int64_t add_ns(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

}  // namespace ddbench
