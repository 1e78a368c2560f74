#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/predict/predict_run.h"
#include "analyzer/scaling/scaling_curve.h"

namespace ddbench::analyzer {

/// A measured size of a curve, and its prediction by a replay of the next smaller recorded size.
struct ReplayedSize {
  ClusterShape shape;
  double samples_per_s = 0;  ///< measured, mean over the runs of the size
  Measured<ReplayPrediction> predicted =
      Measured<ReplayPrediction>::missing("no smaller size with two ranks or more");
};

/// Every size of the curve, by size. Each is predicted from the newest run of the largest smaller size that
/// has two ranks or more, with the costs of collectives in `network`, and for tiers that it does not have in all smaller sizes.
std::vector<ReplayedSize> replayed_sizes(const store::RunStore& store, const ScalingCurve& curve,
                                         const CollectiveCosts& network);

/// The error of replays: the root mean square of ln(predicted / measured). Missing without a predicted size.
struct BackTest {
  double log_error = 0;
  std::size_t sizes = 0;
};
Measured<BackTest> back_test(const std::vector<ReplayedSize>& sizes);
/// The model error for PredictOptions: kUsualModelError counts as four sizes more, and few sizes widen the
/// interval as Student's t does.
double model_error(const BackTest& test);
/// For the sweep to which the run belongs; missing, with the reason, if there is none.
Measured<BackTest> back_test_of(const store::RunStore& store, const store::RunRecord& run);

}  // namespace ddbench::analyzer
