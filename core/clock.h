#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ddbench {

/// CLOCK_MONOTONIC of this machine in nanoseconds. Async-signal-safe, no system call (vDSO).
std::int64_t now_ns() noexcept;

/// Wall clock, nanoseconds since the Unix epoch. For labels and ordering of runs, never for durations.
std::int64_t wall_ns() noexcept;

/// One ping: sent and received on the rank's clock, answered on the reference clock (that of the collector).
struct PingSample {
  std::int64_t sent_ns = 0;
  std::int64_t reference_ns = 0;
  std::int64_t received_ns = 0;
};

/// reference - local at local time `at_ns`, known to +- uncertainty_ns.
struct ClockReading {
  std::int64_t at_ns = 0;
  std::int64_t offset_ns = 0;
  std::int64_t uncertainty_ns = 0;
};

/// The reading of the ping with the shortest round trip: offset = reference - (sent + received)/2,
/// uncertainty = (received - sent)/2 (Cristian 1989). Throws Error{kBadInput} on an empty list or a ping that
/// ends before it began.
ClockReading reading_from_pings(const std::vector<PingSample>& pings);

/// The maximum change of an oscillator's rate between readings (temperature, slewing): 1 us per second. The
/// readings contain the drift itself.
inline constexpr double kClockWander = 1e-6;

/// How a rank's clock maps onto the run's reference clock, from readings at its start, at its end and every
/// few seconds in between. From reading to reading the offset is interpolated (drift); outside it is held.
struct ClockMap {
  ClockReading start;
  ClockReading end;
  /// True when the rank and the collector run on one kernel (same boot id): one CLOCK_MONOTONIC, offset
  /// exactly 0. The readings are kept as a check of the method.
  bool shared_clock = false;
  std::vector<ClockReading> between = {};  ///< in order of time, from start to end

  std::int64_t to_reference(std::int64_t local_ns) const noexcept;
  /// Uncertainty of to_reference at a time: that of the readings around it, interpolated, plus kClockWander
  /// since the nearer one. 0 with a shared clock.
  std::int64_t uncertainty_at_ns(std::int64_t local_ns) const noexcept;
  /// The largest of a reading; 0 with a shared clock.
  std::int64_t uncertainty_ns() const noexcept;
};

}  // namespace ddbench
