#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/program/program_phases.h"
#include "core/span.h"

namespace ddbench::analyzer {

/// What a rank says at `at_ns` that it has cost it to be recorded since it last did (core/program_phase.h).
struct CostReading {
  std::int64_t at_ns = 0;
  std::int64_t hooks_ns = 0;  ///< in ddbench's hooks, over its threads
  std::int64_t drain_ns = 0;  ///< processor time of the thread that writes the spool
};

/// Takes the readings out of what a rank recorded.
std::vector<CostReading> take_recording_cost(ProgramRank& rank);

/// Of a step, means.
struct RecordingCost {
  double hooks_ns = 0;
  double drain_ns = 0;
};

/// Of the rank's steps (kStep spans) from `first_counted` on: what it said within them, as a reading comes right behind what it is
/// of. Nothing where the rank has no such step, or said nothing.
std::optional<RecordingCost> recording_cost(const std::vector<CostReading>& readings, std::span<const Span> spans,
                                            std::uint32_t first_counted);

}  // namespace ddbench::analyzer
