#include "analyzer/rate/run_partition.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "analyzer/statistics/series_mean.h"

namespace ddbench::analyzer {
namespace {

using PartWeights = std::array<double, store::kStepPartCount>;

/// Sums over the records of probed steps, in ns.
struct ProbedSums {
  PartWeights parts{};
  double duration = 0;
  double communication = 0;
  double waited_inside = 0;  ///< CPU wait within communication
  double peer_wait = 0;
  double peer_wait_uncertainty = 0;
  double records = 0;
  std::vector<double> overlap;  ///< of each step, sum over ranks

  double per_record(double sum) const { return sum / records; }
};

ProbedSums sum_probed(std::span<const store::StepRecord> records, const std::vector<RunStep>& steps) {
  ProbedSums sums;
  auto step = steps.begin();
  const RunStep* last = nullptr;
  for (const store::StepRecord& record : records) {
    while (step != steps.end() && step->step < record.step) ++step;
    if (step == steps.end() || step->step != record.step || !step->probes_on) continue;
    if (last != &*step) sums.overlap.push_back(0);
    last = &*step;
    for (std::size_t part = 0; part < sums.parts.size(); ++part)
      sums.parts[part] += static_cast<double>(record.partition.ns[part]);
    const auto communication = static_cast<double>(record.communication_ns);
    sums.duration += static_cast<double>(record.duration_ns);
    sums.communication += communication;
    sums.peer_wait += static_cast<double>(record.peer_wait_ns);
    sums.peer_wait_uncertainty += static_cast<double>(record.peer_wait_uncertainty_ns);
    const double hidden = communication - static_cast<double>(record.partition.exposed_communication_ns());
    const double waited = std::max(0.0, hidden - static_cast<double>(record.overlap_ns));
    sums.waited_inside += waited;
    sums.overlap.back() += hidden - waited;
    ++sums.records;
  }
  return sums;
}

double mean_duration_ns(const std::vector<RunStep>& steps) {
  double sum = 0;
  for (const RunStep& step : steps) sum += step.mean_ns;
  return sum / static_cast<double>(steps.size());
}

/// `scale`: from the sum over ranks of one probed step to the mean over ranks on the step time's base.
Measured<ConfidenceInterval> interval_of_overlap(std::vector<double> overlap, double scale) {
  for (double& of_step : overlap) of_step = std::max(0.0, of_step * scale);
  if (std::all_of(overlap.begin(), overlap.end(), [](double of_step) { return of_step == 0; }))
    return Measured<ConfidenceInterval>::missing("no step had any");
  const Measured<SeriesMean> mean = mean_of_steps(overlap);
  return mean ? Measured<ConfidenceInterval>(mean->estimate.interval)
              : Measured<ConfidenceInterval>::missing(overlap.size() < kFewestForSeriesMean
                                                          ? mean.reason()
                                                          : "too few steps had any, or they differ too much");
}

}  // namespace

store::StepPartition apportion(const PartWeights& weights, std::int64_t total_ns) {
  store::StepPartition result;
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (sum <= 0) {
    result[store::StepPart::kIdle] = total_ns;
    return result;
  }
  PartWeights remainders{};
  for (std::size_t part = 0; part < weights.size(); ++part) {
    const double exact_ns = weights[part] / sum * static_cast<double>(total_ns);
    result.ns[part] = static_cast<std::int64_t>(exact_ns);
    remainders[part] = exact_ns - std::floor(exact_ns);
  }
  std::array<std::size_t, store::kStepPartCount> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  // For very large totals doubles lose the last digits: the remaining difference goes to the largest part.
  const std::int64_t missing_ns = total_ns - result.total_ns();
  const auto ones = std::clamp<std::int64_t>(missing_ns, 0, store::kStepPartCount);
  for (std::int64_t i = 0; i < ones; ++i) ++result.ns[order[static_cast<std::size_t>(i)]];
  *std::max_element(result.ns.begin(), result.ns.end()) += missing_ns - ones;
  return result;
}

Measured<RunPartition> run_partition(std::span<const store::StepRecord> records, const MeasuredSteps& measured,
                                     const StepRate& rate, bool with_intervals) {
  const ProbedSums sums = sum_probed(records, measured.steps);
  if (sums.records == 0) return Measured<RunPartition>::missing("no measured step with the probes on");
  const double step_ns = rate.step_time_ns.value;
  const double in_steps_ns = std::min(mean_duration_ns(measured.steps), step_ns);
  const std::int64_t total_ns = std::llround(step_ns);
  const double scale = sums.duration > 0 ? in_steps_ns / sums.per_record(sums.duration) : 1;
  RunPartition result;
  result.probed_steps = static_cast<int>(sums.overlap.size());
  const std::int64_t in_steps_total_ns = std::min(std::llround(in_steps_ns), static_cast<long long>(total_ns));
  result.parts = apportion(sums.parts, in_steps_total_ns);
  result.parts[store::StepPart::kIdle] += total_ns - in_steps_total_ns;
  // So that the parts of communication do not exceed it after rounding either.
  result.communication_ns = std::max<std::int64_t>(std::llround(sums.per_record(sums.communication) * scale),
                                                   result.parts.exposed_communication_ns());
  const std::int64_t hidden_ns = result.communication_ns - result.parts.exposed_communication_ns();
  result.overlap_ns = hidden_ns - std::clamp<std::int64_t>(std::llround(sums.per_record(sums.waited_inside) * scale),
                                                           0, hidden_ns);
  result.peer_wait_ns = std::llround(sums.per_record(sums.peer_wait) * scale);
  result.peer_wait_uncertainty_ns = std::llround(sums.per_record(sums.peer_wait_uncertainty) * scale);
  if (with_intervals) {
    const double ranks = sums.records / static_cast<double>(sums.overlap.size());
    result.overlap_interval = interval_of_overlap(sums.overlap, scale / ranks);
  } else {
    result.overlap_interval = rate.step_time_ns.interval;
  }
  return result;
}

}  // namespace ddbench::analyzer
