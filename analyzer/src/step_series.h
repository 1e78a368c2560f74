#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ddbench/analyzer/statistics.h"
#include "ddbench/store/records.h"

namespace ddbench::analyzer {

/// One step over all ranks.
struct RunStep {
  std::uint32_t step = 0;
  bool probes_on = true;  ///< on all ranks
  double slowest_ns = 0;  ///< what the step took
  double mean_ns = 0;     ///< over ranks
};

/// The steps from `first_step` on that all `ranks` recorded. `records` are ordered by step, as the store
/// gives them.
std::vector<RunStep> complete_steps(std::span<const store::StepRecord> records, std::uint32_t first_step,
                                    std::size_t ranks);

/// What the probes add to a step, in percent: over all probe-off steps, the median of (mean of its nearest
/// probe-on neighbours before and after)/(the probe-off step) - 1, each step taken as its mean over ranks (a
/// paired comparison is of the whole machine's time; the slowest rank would add the scatter of an extreme).
/// Missing without 5 such pairs.
Measured<Estimate> probe_overhead_percent(std::span<const RunStep> steps);

/// Parts divided by `by` > 0 and rounded so that they sum to the rounded quotient of the total: the largest
/// remainders are rounded up.
store::StepPartition divide_parts(const store::StepPartition& parts, std::int64_t by);

}  // namespace ddbench::analyzer
