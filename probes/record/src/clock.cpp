#include "ddbench/record/clock.h"

#include <time.h>

#include <algorithm>

#include "ddbench/record/error.h"

namespace ddbench {
namespace {

std::int64_t read_clock(clockid_t clock) noexcept {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
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
  const std::int64_t apart_ns = end.at_ns - start.at_ns;
  if (apart_ns <= 0 || local_ns <= start.at_ns) return local_ns + start.offset_ns;
  if (local_ns >= end.at_ns) return local_ns + end.offset_ns;
  const double share = static_cast<double>(local_ns - start.at_ns) / static_cast<double>(apart_ns);
  const double offset_ns =
      static_cast<double>(start.offset_ns) + share * static_cast<double>(end.offset_ns - start.offset_ns);
  return local_ns + static_cast<std::int64_t>(offset_ns);
}

std::int64_t ClockMap::uncertainty_ns() const noexcept {
  return shared_clock ? 0 : std::max(start.uncertainty_ns, end.uncertainty_ns);
}

double ClockMap::drift_ppm() const noexcept {
  const std::int64_t apart_ns = end.at_ns - start.at_ns;
  if (apart_ns <= 0) return 0;
  return static_cast<double>(end.offset_ns - start.offset_ns) / static_cast<double>(apart_ns) * 1e6;
}

}  // namespace ddbench
