#pragma once

#include <optional>

#include "analyzer/diagnose/culprit.h"

namespace ddbench::analyzer {

/// Steps of a run in which all ranks compute longer than before.
struct SlowEverywhere {
  StepWindowRows window;   ///< the slow ones
  StepWindowRows before;   ///< the window it is compared with
  double excess_ns = 0;    ///< compute of a step above that before, the median rank's
  double cost_share = 0;   ///< of the step time in the window
  double slowdown_low = 0; ///< lower end of the 99.9% interval of compute / its mean before
};

/// The window after a change of level in which every rank computes longer than before it, by 10% of the step
/// time or more on the median rank and by half of that on each. Both windows are 12 steps and a tenth of the
/// run or longer. Compute excludes the run-queue delay. Nothing if there is no such window.
std::optional<SlowEverywhere> find_slow_everywhere(const WorkTable& table, const CulpritLimits& limits = {});

}  // namespace ddbench::analyzer
