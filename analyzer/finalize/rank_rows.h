#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/attribution/collective_join.h"
#include "analyzer/attribution/step_range.h"
#include "analyzer/finalize/reported_values.h"
#include "core/run_case/records.h"
#include "core/span.h"

namespace ddbench::analyzer {

/// The steps of one rank in a range.
struct RankRows {
  std::vector<store::StepRecord> records;    ///< in order of time; `rank` is not set
  std::vector<std::uint32_t> with_cpu_wait;  ///< steps with the probes on whose CPU wait was measured
  std::uint64_t damaged_spans = 0;           ///< RankTimeline::damaged
  /// Peer wait of the collectives of which the GPU reported it (NcclJoin::all_there_ns) and that the clocks joined,
  /// as it did and as the clocks have it.
  std::int64_t wait_by_phases_ns = 0;
  std::int64_t wait_by_clocks_ns = 0;
};

/// Partitions the steps of `range` that the rank has in `spans`, which are those of the range and of the steps beside it. `rank` is its
/// place in `join`, which has joined all ranks. `all_there_ns` (NcclJoin) has precedence over the ranks' clocks. Any thread.
RankRows rank_rows(std::vector<Span> spans, StepRange range, const CollectiveJoin& join, std::size_t rank,
                   const ReportedValues& reported, const LastArrivals& all_there_ns = {});

}  // namespace ddbench::analyzer
