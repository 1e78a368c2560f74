#pragma once

#include <array>
#include <span>

#include "analyzer/rate/step_rate.h"

namespace ddbench::analyzer {

/// Where the step time of a run goes. All times are means over ranks and steps on the time base of the step
/// time: `parts` sum to StepRate::step_time_ns, rounded to whole nanoseconds.
///
/// Parts are known for probed steps. They are scaled to the mean duration of all measured steps, so that a
/// slow step counts whether it was probed or not. A rank's time outside of its own steps while another rank
/// was in one (it ended first) is idle.
struct RunPartition {
  store::StepPartition parts;
  std::int64_t communication_ns = 0;  ///< union of communication; parts.exposed_communication_ns() or more
  std::int64_t peer_wait_ns = 0;      ///< of all collectives, exposed or not
  std::int64_t peer_wait_uncertainty_ns = 0;  ///< how far the clocks leave it open, +-
  /// Communication that compute hid. communication_ns is this, the exposed communication, and the CPU wait within.
  std::int64_t overlap_ns = 0;
  /// For overlap_ns: mean_of_steps over the probed steps of this run.
  Measured<ConfidenceInterval> overlap_interval = Measured<ConfidenceInterval>::missing("no overlap");
  int probed_steps = 0;
};

/// Missing, with the reason, without a measured step in which all ranks had their probes on. `records` are
/// those that `measured` and `rate` were computed from.
Measured<RunPartition> run_partition(std::span<const store::StepRecord> records, const MeasuredSteps& measured,
                                     const StepRate& rate, bool with_intervals);

/// Whole nanoseconds that sum to `total_ns` and are proportional to `weights` (each 0 or more): rounded down,
/// then the largest remainders rounded up. If all weights are 0, the whole total is idle.
store::StepPartition apportion(const std::array<double, store::kStepPartCount>& weights, std::int64_t total_ns);

}  // namespace ddbench::analyzer
