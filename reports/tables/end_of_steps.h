#pragma once

#include <cstdint>

#include "analyzer/run/run_summary.h"

namespace ddbench::reports {

/// How a run that stops at a given margin (RunCase::margin) ended.
struct EndOfSteps {
  bool by_margin = false;  ///< else --max-time ended it
  double goal = 0;         ///< RunCase::margin
  /// Half of the width of the step time's interval, the one that is shown with it, as a share of the step time.
  Measured<double> half_width = Measured<double>::missing("no steps");
  /// The same for the cost of the probes, as a share of a step, and its goal.
  Measured<double> probe_half_width = Measured<double>::missing("no steps");
  static constexpr double kProbeGoal = 0.005;
  /// Waits of ranks for the launcher within a step.
  std::int64_t waits = 0;
  std::int64_t wait_ns = 0;
};

/// Missing, with the reason, for a run with a fixed number of steps or one that ended otherwise. `summary`
/// has intervals.
Measured<EndOfSteps> end_of_steps(const analyzer::RunSummary& summary);

}  // namespace ddbench::reports
