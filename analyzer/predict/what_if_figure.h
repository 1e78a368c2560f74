#pragma once

#include <vector>

#include "analyzer/figure/figure.h"
#include "analyzer/predict/predict_run.h"

namespace ddbench::analyzer {

/// A change of step and network, to be seen at several sizes.
struct WhatIfQuestion {
  WhatIf what_if;
  double latency = 1;   ///< of the network between nodes, as a factor
  double per_byte = 1;  ///< its time per byte, as a factor: 0.5 is twice the bandwidth

  bool changes_network() const noexcept { return latency != 1 || per_byte != 1; }
};

/// Predicted throughput by size: a point for each size that the costs cover.
struct WhatIfCurve {
  std::vector<ReplayPrediction> sizes;
  std::vector<std::string> not_known;  ///< why other sizes are left out, once each
};

/// Events that a curve which is redrawn while a slider moves may replay for each size (tests/bench/analyzer/bench_what_if.cpp).
inline constexpr double kWhatIfBudget = 3e5;

/// 1, 2, 4, ... nodes up to `most_nodes`, and the recorded number of nodes, each with as many GPUs as were recorded.
/// The recorded size is related to its replay with recorded transfers, so that curves with and without a change of the
/// network are comparable there. `budget` bounds the work for each size, see PredictOptions::most_events. Throws as changed().
WhatIfCurve what_if_curve(const StepRecording& recording, const CollectiveCosts& costs, const WhatIfQuestion& question, int most_nodes,
                          double budget);

/// Samples/s over GPUs (log-log): the recorded run, its replay on other sizes, and the same with the changes.
Figure what_if_figure(const StepRecording& recording, const WhatIfCurve& unchanged, const WhatIfCurve& changed);

}  // namespace ddbench::analyzer
