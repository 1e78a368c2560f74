#include "analyzer/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/gate/gate_steps.h"
#include "core/error.h"
#include "core/text/quantity.h"

namespace ddbench::analyzer {
namespace {

constexpr double kIntervalLevel = 0.95;
constexpr double kPower = 0.8;  // of the minimum detectable effect

/// The first run that did not measure the metric, in words; empty when all did.
std::string unmeasured(const GateVerdict& verdict, RunMetric metric) {
  for (const GateSide* side : {&verdict.baseline, &verdict.candidate}) {
    for (const RunMeasures& run : side->runs) {
      if (!run[metric]) return fmt::format("run {} did not measure it: {}", run.run.id, run[metric].reason());
    }
  }
  return {};
}

/// Efficiencies share the error of the one run that they are stated against: it cancels only when all share
/// the same one.
std::string baselines_differ(const GateVerdict& verdict) {
  const store::RunId& first = verdict.baseline.runs.front().run.baseline_id;
  for (const GateSide* side : {&verdict.baseline, &verdict.candidate}) {
    for (const RunMeasures& run : side->runs) {
      if (run.run.baseline_id == first) continue;
      return fmt::format(
          "efficiencies are stated against different baseline runs ({} and {}), whose own error does not "
          "cancel; step_time or throughput compare the runs themselves",
          first, run.run.baseline_id);
    }
  }
  return {};
}

double mean_over_runs(const std::vector<RunMeasures>& runs, RunMetric metric) {
  double sum = 0;
  double logarithms = 0;
  for (const RunMeasures& run : runs) {
    sum += *run[metric];
    logarithms += std::log(*run[metric]);
  }
  const auto count = static_cast<double>(runs.size());
  return std::isfinite(logarithms) ? std::exp(logarithms / count) : sum / count;
}

/// What a logarithm that is positive for "worse" means for the metric: candidate / baseline - 1.
double change_of(double worsening, RunMetric metric) {
  return std::expm1(lower_is_better(metric) ? worsening : -worsening);
}

/// The threshold as such a logarithm.
double threshold_logarithm(RunMetric metric, double threshold) {
  return lower_is_better(metric) ? std::log1p(threshold) : -std::log1p(-threshold);
}

/// The smallest true worsening that would be called a regression with a probability of kPower.
double detectable_worsening(const LogRatio& ratio, RunMetric metric, const GatePolicy& policy) {
  const auto reach = [&](double share) { return ratio.quantile(share) - ratio.estimate(); };
  const double level = 1 - (1 - policy.confidence) / static_cast<double>(policy.metrics.size());
  return std::max(reach(level), threshold_logarithm(metric, policy.threshold_of(metric))) + reach(kPower);
}

MetricVerdict::Estimate estimate_of(const GateVerdict& verdict, RunMetric metric, const LogRatio& ratio) {
  MetricVerdict::Estimate estimate;
  estimate.baseline = mean_over_runs(verdict.baseline.runs, metric);
  estimate.candidate = mean_over_runs(verdict.candidate.runs, metric);
  estimate.change = change_of(ratio.estimate(), metric);
  const double one_end = change_of(ratio.quantile((1 - kIntervalLevel) / 2), metric);
  const double other_end = change_of(ratio.quantile((1 + kIntervalLevel) / 2), metric);
  estimate.change_interval = {std::min(one_end, other_end), std::max(one_end, other_end), kIntervalLevel,
                              ratio.method()};
  estimate.least_change = change_of(ratio.quantile(1 - verdict.policy.confidence), metric);
  estimate.detectable_change = change_of(detectable_worsening(ratio, metric, verdict.policy), metric);
  estimate.p_value = ratio.probability_at_most(0);
  return estimate;
}

/// Measured metrics get their estimate, the others their reason.
std::vector<MetricVerdict> estimates(const GateVerdict& verdict) {
  std::vector<MetricVerdict> metrics;
  for (const RunMetric metric : verdict.policy.metrics) {
    MetricVerdict& result = metrics.emplace_back();
    result.metric = metric;
    result.threshold = verdict.policy.threshold_of(metric);
    result.reason = unmeasured(verdict, metric);
    if (result.reason.empty() && metric == RunMetric::kEfficiency) result.reason = baselines_differ(verdict);
    if (!result.reason.empty()) continue;
    result.estimate =
        estimate_of(verdict, metric,
                    worsening(verdict.baseline, verdict.candidate, verdict.in_time, metric, verdict.policy));
  }
  return metrics;
}

std::string interval_words(const MetricVerdict::Estimate& estimate) {
  return fmt::format("{} (95% CI {} to {})", signed_percent(estimate.change),
                     signed_percent(estimate.change_interval.low),
                     signed_percent(estimate.change_interval.high));
}

/// How many runs per side would narrow the interval to the threshold, if that can be estimated.
std::string advice(const GateVerdict& verdict, double width, double threshold) {
  if (verdict.in_time == SidesInTime::kSessions) {
    return "; interleaved runs (gate --run) or a baseline of more sessions would narrow it";
  }
  if (verdict.in_time == SidesInTime::kBlocks) return "; interleaved runs (gate --run) would narrow it";
  const auto pairs = static_cast<double>(verdict.baseline.runs.size());
  const double needed = std::ceil(pairs * (width / threshold) * (width / threshold));
  return needed <= 1000 ? fmt::format("; about {:.0f} pairs would be enough", needed)
                        : "; the runs scatter too much";
}

struct Worsening {
  double estimate = 0;
  double low = 0;
  double high = 0;
  double threshold = 0;
};

/// As logarithms, in which slower and faster are symmetric and larger is worse.
Worsening worsening_of(const MetricVerdict& metric) {
  const MetricVerdict::Estimate& estimate = *metric.estimate;
  const double sign = lower_is_better(metric.metric) ? 1 : -1;
  const double low = sign * std::log1p(estimate.change_interval.low);
  const double high = sign * std::log1p(estimate.change_interval.high);
  return {sign * std::log1p(estimate.change), std::min(low, high), std::max(low, high),
          threshold_logarithm(metric.metric, metric.threshold)};
}

/// Decides one measured metric.
void decide(MetricVerdict& metric, bool beyond_noise, const GateVerdict& verdict) {
  const MetricVerdict::Estimate& estimate = *metric.estimate;
  const auto [worse, low, high, threshold] = worsening_of(metric);
  const double width = high - low;
  const std::string limit = fmt::format("{:g}%", metric.threshold * 100);
  if (beyond_noise && worse > threshold) {
    metric.outcome = GateOutcome::kRegression;
    metric.reason = fmt::format("worse, {}: beyond noise and beyond {}", interval_words(estimate), limit);
  } else if (high < threshold) {
    metric.outcome = GateOutcome::kPass;
    metric.improved = high < 0 && worse < -threshold;
    metric.reason = metric.improved ? fmt::format("better: {}", interval_words(estimate))
                                    : fmt::format("{}: {} is excluded", interval_words(estimate), limit);
  } else if (width <= threshold && worse <= threshold) {
    metric.outcome = GateOutcome::kPass;
    metric.reason = fmt::format("{}: measured to less than {}, and not worse by that much",
                                interval_words(estimate), limit);
  } else {
    metric.outcome = GateOutcome::kInconclusive;
    metric.reason = fmt::format("{}: the interval is too wide to distinguish {} from noise{}",
                                interval_words(estimate), limit, advice(verdict, width, threshold));
  }
  if (metric.outcome != GateOutcome::kRegression) {
    metric.reason += fmt::format("; detectable from {} on", signed_percent(estimate.detectable_change));
  }
}

void decide_metrics(GateVerdict& verdict) {
  std::vector<double> p_values;
  for (const MetricVerdict& metric : verdict.metrics)
    p_values.push_back(metric.estimate ? metric.estimate->p_value : 1);
  const std::vector<bool> beyond_noise =
      holm_rejections(p_values, 1 - verdict.policy.confidence, p_values.size());
  for (std::size_t i = 0; i < verdict.metrics.size(); ++i) {
    if (verdict.metrics[i].estimate) decide(verdict.metrics[i], beyond_noise[i], verdict);
  }
}

std::string names_of(const GateVerdict& verdict, GateOutcome outcome) {
  std::string names;
  for (const MetricVerdict& metric : verdict.metrics) {
    if (metric.outcome == outcome)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(metric.metric));
  }
  return names;
}

/// Puts the metrics' outcomes together.
void conclude(GateVerdict& verdict) {
  const std::string worse = names_of(verdict, GateOutcome::kRegression);
  const std::string unknown = names_of(verdict, GateOutcome::kInconclusive);
  if (!worse.empty()) {
    verdict.outcome = GateOutcome::kRegression;
    verdict.headline = fmt::format("regression in {}", worse);
  } else if (!verdict.reasons.empty() || !unknown.empty()) {
    verdict.outcome = GateOutcome::kInconclusive;
    verdict.headline =
        verdict.reasons.empty() ? "no verdict on " + unknown : "no verdict: " + verdict.reasons.front();
    for (const MetricVerdict& metric : verdict.metrics) {
      if (metric.outcome != GateOutcome::kInconclusive || metric.reason.empty()) continue;
      verdict.reasons.push_back(fmt::format("{}: {}", to_string(metric.metric), metric.reason));
    }
  } else {
    verdict.outcome = GateOutcome::kPass;
    verdict.headline = fmt::format("no regression in {}", names_of(verdict, GateOutcome::kPass));
  }
}

void add_notes(GateVerdict& verdict) {
  if (verdict.in_time == SidesInTime::kBlocks) {
    verdict.notes.push_back(
        "the sides were not measured in turns, so that drift of the machine counts as noise; "
        "gate --run interleaves them");
  }
  for (const FieldDifference& difference : verdict.compared) {
    verdict.notes.push_back(fmt::format("compared: {} {} against {}", difference.field,
                                        difference.a.empty() ? "(none)" : difference.a,
                                        difference.b.empty() ? "(none)" : difference.b));
  }
}

}  // namespace

std::string_view to_string(GateOutcome outcome) noexcept {
  switch (outcome) {
    case GateOutcome::kPass: return "pass";
    case GateOutcome::kRegression: return "regression";
    case GateOutcome::kInconclusive: break;
  }
  return "inconclusive";
}

int exit_code_of(GateOutcome outcome) noexcept {
  switch (outcome) {
    case GateOutcome::kPass: return 0;
    case GateOutcome::kRegression: return static_cast<int>(ErrorCode::kRegression);
    case GateOutcome::kInconclusive: break;
  }
  return static_cast<int>(ErrorCode::kNoVerdict);
}

GateSide gate_side(const store::RunStore& store, std::string_view reference) {
  ResolvedReference resolved = resolve_reference(store, reference);
  GateSide side;
  side.reference = std::move(resolved.reference);
  side.meaning = std::move(resolved.meaning);
  side.missing = std::move(resolved.missing);
  side.runs = measure_runs(store, resolved.runs);
  side.earlier = measure_runs(store, resolved.earlier);
  return side;
}

GateVerdict judge(GateSide baseline, GateSide candidate, const GatePolicy& policy) {
  validate(policy);
  GateVerdict verdict;
  verdict.policy = policy;
  verdict.baseline = std::move(baseline);
  verdict.candidate = std::move(candidate);
  drop_other_history(verdict.baseline);
  check_sides(verdict);
  if (verdict.reasons.empty()) {
    verdict.in_time = sides_in_time(records_of(verdict.baseline.runs), records_of(verdict.candidate.runs));
    verdict.metrics = estimates(verdict);
    decide_metrics(verdict);
    add_notes(verdict);
    explain(verdict);
  } else {
    for (const RunMetric metric : policy.metrics) {
      MetricVerdict& result = verdict.metrics.emplace_back();
      result.metric = metric;
      result.threshold = policy.threshold_of(metric);
    }
  }
  conclude(verdict);
  return verdict;
}

}  // namespace ddbench::analyzer
