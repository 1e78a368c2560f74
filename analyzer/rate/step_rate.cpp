#include "analyzer/rate/step_rate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/statistics/series_mean.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kFewestForOutliers = 20;
constexpr double kFarOutlier = 3;  // times the distance of the quartiles, above the upper one (Tukey 1977)

void add_outliers(const std::vector<double>& sorted, double elapsed_ns, StepDistribution& distribution) {
  if (sorted.size() < kFewestForOutliers) return;
  const double upper = quantile(sorted, 0.75);
  const double fence = upper + kFarOutlier * (upper - quantile(sorted, 0.25));
  double lost_ns = 0;
  for (auto length = sorted.rbegin(); length != sorted.rend() && *length > fence; ++length) {
    ++distribution.outliers;
    lost_ns += *length - distribution.p50_ns;
  }
  distribution.outlier_share = distribution.outliers / static_cast<double>(sorted.size());
  distribution.lost_share = lost_ns / elapsed_ns;
}

StepDistribution distribution_of(const MeasuredSteps& measured, std::vector<double> lengths_ns) {
  std::sort(lengths_ns.begin(), lengths_ns.end());
  StepDistribution distribution;
  distribution.p50_ns = quantile(lengths_ns, 0.5);
  distribution.p95_ns = quantile(lengths_ns, 0.95);
  distribution.p99_ns = quantile(lengths_ns, 0.99);
  distribution.max_ns = lengths_ns.back();
  double skew_ns = 0;
  for (const RunStep& step : measured.steps)
    skew_ns += (step.slowest_ns - step.fastest_ns) / static_cast<double>(measured.steps.size());
  distribution.skew_ns = skew_ns;
  add_outliers(lengths_ns, static_cast<double>(measured.elapsed_ns), distribution);
  return distribution;
}

}  // namespace

double StepRate::samples_per_s(double samples_per_step) const {
  return samples_per_step * 1e9 / step_time_ns.value;
}

Measured<StepRate> step_rate(const MeasuredSteps& measured, bool with_interval) {
  if (measured.steps.empty()) return Measured<StepRate>::missing("no steps");
  if (measured.elapsed_ns <= 0)
    return Measured<StepRate>::missing("steps took no time: their clock stood still");
  std::vector<double> lengths_ns;
  for (const RunStep& step : measured.steps) lengths_ns.push_back(static_cast<double>(step.added_ns));
  StepRate rate;
  rate.steps = static_cast<int>(measured.steps.size());
  rate.elapsed_ns = measured.elapsed_ns;
  rate.left_out_ns = measured.left_out_ns;
  rate.clocks_known = measured.clocks_known;
  rate.step_time_ns.value = static_cast<double>(measured.elapsed_ns) / rate.steps;
  rate.step_time_ns.interval =
      Measured<ConfidenceInterval>::missing("tables of many runs have no intervals: see ddbench show");
  if (with_interval) {
    const Measured<SeriesMean> mean = mean_of_steps(lengths_ns);
    rate.step_time_ns.interval = mean ? Measured<ConfidenceInterval>(mean->estimate.interval)
                                      : Measured<ConfidenceInterval>::missing(mean.reason());
    rate.independent_steps = mean ? Measured<double>(mean->effective_count) : Measured<double>::missing(mean.reason());
  }
  rate.distribution = distribution_of(measured, std::move(lengths_ns));
  return rate;
}

Measured<ConfidenceInterval> rate_interval(double samples, const Measured<ConfidenceInterval>& time_ns) {
  if (!time_ns) return time_ns;
  return ConfidenceInterval{samples * 1e9 / time_ns->high, samples * 1e9 / time_ns->low, time_ns->level,
                            time_ns->method};
}

}  // namespace ddbench::analyzer
