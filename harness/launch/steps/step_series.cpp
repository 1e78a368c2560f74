#include "harness/launch/steps/step_series.h"

#include <algorithm>
#include <cmath>

#include "analyzer/statistics/series_mean.h"
#include "analyzer/statistics/statistics.h"
#include "core/span_limits.h"

namespace ddbench::launch {
namespace {

constexpr std::uint64_t kBatches = 48;  // into which mean_of_steps would divide single steps, too

StepWindow joined(const StepWindow& a, const StepWindow& b) {
  return {a.steps + b.steps, add_ns(a.time_ns, b.time_ns), a.pairs + b.pairs, a.log_ratio + b.log_ratio};
}

}  // namespace

void StepSeries::add(const StepWindow& window) {
  steps_ += window.steps;
  time_ns_ = add_ns(time_ns_, window.time_ns);
  open_ = joined(open_, window);
  if (++in_open_ < stride_) return;
  windows_.push_back(open_);
  open_ = {};
  in_open_ = 0;
  if (windows_.size() < kMostWindows) return;
  for (std::size_t i = 0; i < kMostWindows / 2; ++i) windows_[i] = joined(windows_[2 * i], windows_[2 * i + 1]);
  windows_.resize(kMostWindows / 2);
  stride_ *= 2;
}

Measured<double> StepSeries::half_width() const {
  // Batches of about equally many steps, so that they have equal weight.
  std::vector<double> means;
  StepWindow batch;
  std::uint64_t before = 0;
  for (const StepWindow& window : windows_) {
    batch = joined(batch, window);
    if (before + batch.steps < (means.size() + 1) * steps_ / kBatches) continue;
    means.push_back(static_cast<double>(batch.time_ns) / batch.steps);
    before += batch.steps;
    batch = {};
  }
  const Measured<analyzer::SeriesMean> mean = analyzer::mean_of_steps(means);
  if (!mean) return Measured<double>::missing(mean.reason());
  const ConfidenceInterval& interval = mean->estimate.interval;
  return (interval.high - interval.low) / 2 / mean->estimate.value;
}

Measured<double> StepSeries::probe_half_width() const {
  // Means of about equally many pairs: a mean of few is less certain than one of many.
  std::uint32_t pairs = 1;
  for (const StepWindow& window : windows_) pairs = std::max(pairs, window.pairs);
  std::vector<double> differences;
  StepWindow group;
  for (const StepWindow& window : windows_) {
    group = joined(group, window);
    if (group.pairs < pairs) continue;
    differences.push_back(group.log_ratio / group.pairs);
    group = {};
  }
  const Measured<analyzer::Estimate> cost = analyzer::signed_rank_estimate(differences);
  if (!cost) return Measured<double>::missing(cost.reason());
  return (std::expm1(cost->interval.high) - std::expm1(cost->interval.low)) / 2;
}

}  // namespace ddbench::launch
