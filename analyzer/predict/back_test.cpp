#include "analyzer/predict/back_test.h"

#include <cmath>
#include <optional>
#include <string>

#include "analyzer/predict/recording.h"
#include "analyzer/statistics/quantiles.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

ClusterShape shape_of(const RunCase& run_case) {
  return {run_case.nodes, run_case.gpus_per_node};
}

Measured<ReplayPrediction> predicted_from(const StepRecording& recording, const RunCase& from,
                                          const RunCase& to, const CollectiveCosts& costs) {
  PredictOptions options;
  options.what_if.batch_factor =
      static_cast<double>(to.batch_per_gpu) / static_cast<double>(from.batch_per_gpu);
  return predict_step(recording, costs, shape_of(to), options);
}

}  // namespace

std::vector<ReplayedSize> replayed_sizes(const store::RunStore& store, const ScalingCurve& curve,
                                         const CollectiveCosts& network) {
  std::vector<ReplayedSize> sizes;
  std::optional<StepRecording> source;
  RunCase source_case;
  CollectiveCosts costs = network;
  for (const CurveRow& row : curve.rows) {
    ReplayedSize size{shape_of(row.run_case), row.samples_per_s};
    const bool is_smaller = source && (source_case.world_size() < row.world_size || source_case.nodes_not_stated == row.run_case.nodes_not_stated);
    if (is_smaller) size.predicted = predicted_from(*source, source_case, row.run_case, costs);
    sizes.push_back(std::move(size));
    if (row.world_size < 2 || row.runs.empty()) continue;
    const Measured<StepRecording> recording = recording_of(store, store.find(row.runs.back()));
    if (!recording) continue;
    source = *recording;
    source_case = row.run_case;
    add_costs(*recording, costs);
  }
  return sizes;
}

Measured<BackTest> back_test(const std::vector<ReplayedSize>& sizes) {
  BackTest result;
  double squares = 0;
  for (const ReplayedSize& size : sizes) {
    if (!size.predicted || size.samples_per_s <= 0) continue;
    squares += std::pow(std::log(size.predicted->samples_per_s.value / size.samples_per_s), 2);
    ++result.sizes;
  }
  if (result.sizes == 0) return Measured<BackTest>::missing("no size was predicted from a smaller one");
  result.log_error = std::sqrt(squares / static_cast<double>(result.sizes));
  return result;
}

double model_error(const BackTest& test) {
  constexpr double kUsualSizes = 4;
  const double sizes = static_cast<double>(test.sizes);
  const double variance =
      (kUsualSizes * kUsualModelError * kUsualModelError + sizes * test.log_error * test.log_error) /
      (kUsualSizes + sizes);
  // Intervals are taken as 1.96 of this.
  return std::sqrt(variance) * t_quantile(0.975, kUsualSizes + sizes) / 1.959964;
}

Measured<BackTest> back_test_of(const store::RunStore& store, const store::RunRecord& run) {
  using Missing = Measured<BackTest>;
  if (run.sweep_id.empty()) return Missing::missing("the run is of no sweep");
  store::Query query;
  query.sweep_id = run.sweep_id;
  CurveOptions options;
  options.if_several = {};  // a run is predicted, whatever its sweep is
  try {
    return back_test(replayed_sizes(store, scaling_curve(store, store.runs(query), options), {}));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadInput) throw;
    return Missing::missing(std::string("its sweep is no curve: ") + error.what());
  }
}

}  // namespace ddbench::analyzer
