#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/cost/cost.h"
#include "analyzer/scaling/scaling_curve.h"

namespace ddbench::analyzer {

/// The fewest nodes, like those of the curve's largest runs, with which an amount of samples is trained in time.
struct NodesInTime {
  double deadline_h = 0;
  /// By the expected time: that of a measured size where there is one, else of a predicted one.
  Measured<CostRow> expected = Measured<CostRow>::missing("no deadline (--deadline)");
  /// By the upper end of the 95% interval of that time.
  Measured<CostRow> assured = Measured<CostRow>::missing("no deadline (--deadline)");
};

/// What the sizes of a curve cost.
struct CurveCosts {
  CostTable table;
  std::optional<NodesInTime> in_time;  ///< where there is a deadline
};

/// A way to train for each size, measured or predicted, with the 95% interval of its throughput: over runs, where there are three;
/// of predictions as Prediction has it. None where the runs do not say how many samples a step has.
std::vector<Offer> offers_of(const ScalingCurve& curve);

/// Sizes from one node to 16 times the measured ones are tried; missing with the reason where none is in time, or larger ones cannot be
/// predicted. `cost` has samples_total and deadline_h. Time holds checkpoints and interruptions of on-demand nodes (plan_checkpoints).
NodesInTime nodes_in_time(const ScalingCurve& curve, const SkuCatalogue& catalogue, const CostOptions& cost, bool one_tier = false);

/// Seconds that runs took to write a checkpoint: of each, the slowest rank; the mean over checkpoints. Missing where they wrote none.
Measured<double> checkpoint_seconds(const store::RunStore& store, std::span<const store::RunRecord> runs);

}  // namespace ddbench::analyzer
