#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/run_case/records.h"

namespace ddbench::analyzer {

/// One measured step over all ranks.
struct RunStep {
  std::uint32_t step = 0;
  bool probes_on = true;   ///< on all ranks
  double slowest_ns = 0;   ///< duration on the rank that took longest
  double fastest_ns = 0;   ///< duration on the rank that took least
  double mean_ns = 0;      ///< duration, mean over ranks
  std::int64_t added_ns = 0;  ///< its contribution to the elapsed time; 0 or more
};

/// The measured steps of a run, in order.
///
/// Elapsed time is the time during which any rank was in one of these steps, on aligned clocks. Steps that
/// follow each other without a gap make that last end - first begin over all ranks. A step adds the time from
/// the end of the step before it, on the last rank, to its own end on the last rank; these contributions sum
/// to the elapsed time. Time between two steps that belongs to no step of any rank is left out: a program's
/// evaluation or checkpoint, a step that some rank did not record, switching probes.
struct MeasuredSteps {
  std::vector<RunStep> steps;
  /// False: the clocks of several ranks were never compared. The time then is that of the rank whose steps
  /// took longest in all, by its own clock.
  bool clocks_known = false;
  std::int64_t elapsed_ns = 0;
  std::int64_t left_out_ns = 0;  ///< between steps, in no step; not part of elapsed_ns
};

/// The steps from `first_step` on that all `rank_count` ranks recorded. `records` are ordered by step, as the
/// store returns them; `ranks` are the run's rank rows (a run that was cut off has none).
MeasuredSteps measured_steps(std::span<const store::StepRecord> records, std::uint32_t first_step,
                             std::span<const store::RankRecord> ranks, std::size_t rank_count);

}  // namespace ddbench::analyzer
