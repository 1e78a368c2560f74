#include "analyzer/gate/gate_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "analyzer/statistics/change_points.h"
#include "analyzer/statistics/moments.h"
#include "analyzer/statistics/statistics.h"

namespace ddbench::analyzer {
namespace {

constexpr double kLevel = 0.95;
constexpr double kMostImbalance = 0.5;  // of the order within pairs, above which drift does not cancel

double worse_is_more(const RunMeasures& run, RunMetric metric) {
  const double logarithm = std::log(comparable_value(run, metric));
  return lower_is_better(metric) ? logarithm : -logarithm;
}

/// By how much a straight trend of the pairs' means moves the later run of a pair.
double trend_within_pairs(const std::vector<double>& a, const std::vector<double>& b) {
  const double middle = (static_cast<double>(a.size()) - 1) / 2;
  double xx = 0;
  double xy = 0;
  for (std::size_t pair = 0; pair < a.size(); ++pair) {
    const double x = static_cast<double>(pair) - middle;
    xx += x * x;
    xy += x * (a[pair] + b[pair]) / 2;
  }
  return xy / xx / 2;  // a pair is two runs
}

LogRatio paired(const GateSide& baseline, const GateSide& candidate, const std::vector<RunPair>& pairs,
                RunMetric metric) {
  std::vector<double> a;
  std::vector<double> b;
  for (const RunPair& pair : pairs) {
    a.push_back(worse_is_more(baseline.runs[pair.baseline], metric));
    b.push_back(worse_is_more(candidate.runs[pair.candidate], metric));
  }
  const LogRatio ratio = paired_log_ratio(a, b);
  const double imbalance = order_imbalance(pairs);
  if (std::abs(imbalance) <= kMostImbalance) return ratio;
  const double drift = std::abs(imbalance * trend_within_pairs(a, b));
  return ratio.with_spread(drift, fmt::format("{:.2f}% for drift, as the {} came first in {} of them",
                                              drift * 100, imbalance > 0 ? "baseline" : "candidate",
                                              std::abs(imbalance) == 1 ? "all" : "most"));
}

LogRatio in_sequence(const GateSide& baseline, const GateSide& candidate, RunMetric metric,
                     const GatePolicy& policy) {
  struct Entry {
    std::int64_t started_ns;
    TimedValue value;
  };
  std::vector<Entry> entries;
  for (const RunMeasures& run : baseline.runs) {
    entries.push_back({run.run.started_wall_ns, {worse_is_more(run, metric), false}});
  }
  for (const RunMeasures& run : candidate.runs) {
    entries.push_back({run.run.started_wall_ns, {worse_is_more(run, metric), true}});
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.started_ns < b.started_ns; });
  std::vector<TimedValue> values;
  for (const Entry& entry : entries) values.push_back(entry.value);
  return sequence_log_ratio(values).with_spread(
      policy.drift_spread,
      fmt::format("{:.1f}% for drift between sides not made in turns", policy.drift_spread * 100));
}

std::vector<std::vector<double>> sessions(const std::vector<RunMeasures>& runs, RunMetric metric) {
  std::vector<std::vector<double>> values;
  for (const std::vector<std::size_t>& session : sessions_of(records_of(runs))) {
    std::vector<double>& inner = values.emplace_back();
    for (const std::size_t run : session) inner.push_back(worse_is_more(runs[run], metric));
  }
  return values;
}

/// Sessions that show how far the baseline scatters: its own where they are enough, else those of its earlier
/// versions too, back to where its level last changed.
std::vector<std::vector<double>> session_history(const GateSide& baseline, RunMetric metric, int enough) {
  std::vector<std::vector<double>> own = sessions(baseline.runs, metric);
  if (static_cast<int>(own.size()) >= enough || baseline.earlier.empty()) return own;
  std::vector<RunMeasures> runs;
  for (const RunMeasures& run : baseline.earlier) {
    if (run[metric]) runs.push_back(run);
  }
  runs.insert(runs.end(), baseline.runs.begin(), baseline.runs.end());
  std::vector<std::vector<double>> all = sessions(runs, metric);
  std::vector<double> means;
  for (const std::vector<double>& session : all) means.push_back(run_moments(session).mean);
  const std::vector<ChangePoint> changes = change_points(means);
  if (!changes.empty())
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(changes.back().index));
  return all;
}

double student_quantile(double freedom) {
  return boost::math::quantile(boost::math::students_t(freedom), (1 + kLevel) / 2);
}

}  // namespace

LogRatio worsening(const GateSide& baseline, const GateSide& candidate, SidesInTime in_time, RunMetric metric,
                   const GatePolicy& policy) {
  if (in_time == SidesInTime::kInterleaved) {
    const auto pairs = interleaved_pairs(records_of(baseline.runs), records_of(candidate.runs));
    return paired(baseline, candidate, *pairs, metric);
  }
  if (in_time == SidesInTime::kBlocks) return in_sequence(baseline, candidate, metric, policy);
  const SessionSides sides{sessions(baseline.runs, metric), sessions(candidate.runs, metric),
                           session_history(baseline, metric, policy.min_sessions)};
  return session_log_ratio(sides, policy.min_sessions, policy.session_spread);
}

MeanChange mean_change(const std::vector<double>& baseline, const std::vector<double>& candidate,
                       const std::optional<std::vector<RunPair>>& pairs) {
  const RunMoments a = run_moments(baseline);
  const RunMoments b = run_moments(candidate);
  MeanChange change{a.mean, b.mean};
  if (std::min(baseline.size(), candidate.size()) < kFewestRuns) {
    change.interval = Measured<ConfidenceInterval>::missing(
        fmt::format("an interval needs {} or more runs a side", kFewestRuns));
    return change;
  }
  double error = 0;
  double freedom = 1;
  const char* method = "Welch t over runs";
  if (pairs) {
    std::vector<double> differences;
    for (const RunPair& pair : *pairs)
      differences.push_back(candidate[pair.candidate] - baseline[pair.baseline]);
    const RunMoments moments = run_moments(differences);
    const double least = kLeastSpread * std::hypot(a.mean, b.mean);
    error = std::sqrt(std::max(moments.variance, least * least) / moments.count);
    freedom = moments.count - 1;
    method = "paired Student t over runs";
  } else {
    const double share_a = believed_variance(a) / a.count;
    const double share_b = believed_variance(b) / b.count;
    const double all = share_a + share_b;
    error = std::sqrt(all);
    if (all > 0)
      freedom = all * all / (share_a * share_a / (a.count - 1) + share_b * share_b / (b.count - 1));
  }
  const double reach = student_quantile(freedom) * error;
  change.interval = ConfidenceInterval{b.mean - a.mean - reach, b.mean - a.mean + reach, kLevel, method};
  return change;
}

}  // namespace ddbench::analyzer
