#include "core/clock.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "core/error.h"

namespace ddbench {
namespace {

std::int64_t read_clock(clockid_t clock) noexcept {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// The readings that a time lies between, and how far from the one to the other. Outside of all readings both
/// are the nearest.
struct Around {
  const ClockReading& before;
  const ClockReading& after;
  double share = 0;
};

Around readings_around(const ClockMap& map, std::int64_t local_ns) noexcept {
  if (map.end.at_ns <= map.start.at_ns || local_ns <= map.start.at_ns) return {map.start, map.start};
  if (local_ns >= map.end.at_ns) return {map.end, map.end};
  const auto next =
      std::upper_bound(map.between.begin(), map.between.end(), local_ns,
                       [](std::int64_t at_ns, const ClockReading& reading) { return at_ns < reading.at_ns; });
  const ClockReading& before = next == map.between.begin() ? map.start : *std::prev(next);
  const ClockReading& after = next == map.between.end() ? map.end : *next;
  const std::int64_t apart_ns = after.at_ns - before.at_ns;
  if (apart_ns <= 0) return {before, before};
  return {before, after, static_cast<double>(local_ns - before.at_ns) / static_cast<double>(apart_ns)};
}

}  // namespace

std::int64_t now_ns() noexcept {
  return read_clock(CLOCK_MONOTONIC);
}

std::int64_t wall_ns() noexcept {
  return read_clock(CLOCK_REALTIME);
}

ClockReading reading_from_pings(const std::vector<PingSample>& pings) {
  if (pings.empty())
    throw Error(ErrorCode::kBadInput, "no ping was answered: the clock offset cannot be read");
  const auto round_trip = [](const PingSample& ping) { return ping.received_ns - ping.sent_ns; };
  const PingSample& best = *std::min_element(
      pings.begin(), pings.end(),
      [&](const PingSample& a, const PingSample& b) { return round_trip(a) < round_trip(b); });
  if (round_trip(best) < 0) throw Error(ErrorCode::kBadInput, "a ping was received before it was sent");
  const std::int64_t middle_ns = best.sent_ns + round_trip(best) / 2;
  // The true send-to-answer delay lies anywhere in the round trip; odd round trips round up.
  return {middle_ns, best.reference_ns - middle_ns, (round_trip(best) + 1) / 2};
}

std::int64_t ClockMap::to_reference(std::int64_t local_ns) const noexcept {
  if (shared_clock) return local_ns;
  const Around around = readings_around(*this, local_ns);
  const auto [before, after] = std::pair(around.before.offset_ns, around.after.offset_ns);
  return local_ns + before + static_cast<std::int64_t>(around.share * static_cast<double>(after - before));
}

std::int64_t ClockMap::uncertainty_at_ns(std::int64_t local_ns) const noexcept {
  if (shared_clock) return 0;
  const Around around = readings_around(*this, local_ns);
  const auto before = static_cast<double>(around.before.uncertainty_ns);
  const auto after = static_cast<double>(around.after.uncertainty_ns);
  const auto apart_ns = static_cast<double>(
      std::min(std::abs(local_ns - around.before.at_ns), std::abs(local_ns - around.after.at_ns)));
  return static_cast<std::int64_t>(
      std::ceil(before + around.share * (after - before) + kClockWander * apart_ns));
}

std::int64_t ClockMap::uncertainty_ns() const noexcept {
  if (shared_clock) return 0;
  std::int64_t worst_ns = std::max(start.uncertainty_ns, end.uncertainty_ns);
  for (const ClockReading& reading : between) worst_ns = std::max(worst_ns, reading.uncertainty_ns);
  return worst_ns;
}

}  // namespace ddbench
