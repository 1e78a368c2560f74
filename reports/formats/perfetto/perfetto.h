#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "analyzer/store/rows/run_store.h"
#include "core/text/number_ranges.h"
#include "reports/text/sink.h"

namespace ddbench::reports {

/// What of a run a trace shows. Nothing: all.
struct TraceSelection {
  std::optional<NumberRanges> ranks;
  std::optional<NumberRanges> steps;  ///< spans outside of steps are left out
};

/// What was written, and what of it was held in memory at most.
struct TraceCounts {
  std::uint64_t slices = 0;
  std::size_t most_waiting = 0;   ///< slices of a rank that waited to be put in order
  std::size_t largest_piece = 0;  ///< bytes that the sink was given at once
  std::size_t collectives = 0;    ///< of which the arrivals were kept
};

/// The spans of a run as Chrome trace events (JSON), for ui.perfetto.dev and chrome://tracing. Ranks are
/// processes; lanes and steps are threads. All times are on the run's reference clock (ClockMap), counted
/// from the first span of the chosen steps, of whatever rank: traces of several ranks of a run fit together. The
/// spans of one collective are joined by a flow from the first shown rank that arrived to the last, and state how long
/// each rank waited for the last rank of the run. Losses are counters. Spans of one lane that overlap without
/// nesting are moved to further threads. Damaged spans (which end before they begin) are left out and counted
/// under otherData.
///
/// Memory does not grow with the number of ranks or spans (SliceQueue), but with the number of collectives in the chosen steps
/// (CollectiveMeetings). Reads the spans twice. Throws Error{kBadInput} on an unknown run.
TraceCounts write_perfetto(const store::RunStore& store, const store::RunId& id, const TraceSelection& selection, const Sink& sink);

}  // namespace ddbench::reports
