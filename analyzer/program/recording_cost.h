#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/program/program_phases.h"
#include "core/span.h"

namespace ddbench::analyzer {

/// A rank's report at `at_ns` of the cost of being recorded since its last report (core/program_phase.h).
struct CostReading {
  std::int64_t at_ns = 0;
  std::int64_t hooks_ns = 0;  ///< in ddbench's hooks, over its threads
  std::int64_t drain_ns = 0;  ///< processor time of the thread that writes the spool
};

/// Removes the readings from a rank's recording and returns them.
std::vector<CostReading> take_recording_cost(ProgramRank& rank);

/// Means per step.
struct RecordingCost {
  double hooks_ns = 0;
  double drain_ns = 0;
};

/// For the rank's steps (kStep spans) from `first_counted` on: the cost reported within them, because a
/// reading follows directly after the interval that it covers. Nothing if the rank has no such step, or
/// reported nothing.
std::optional<RecordingCost> recording_cost(const std::vector<CostReading>& readings, std::span<const Span> spans,
                                            std::uint32_t first_counted);

}  // namespace ddbench::analyzer
