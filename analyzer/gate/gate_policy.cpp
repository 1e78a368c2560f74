#include "analyzer/gate/gate_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "analyzer/comparison/comparability.h"
#include "core/error.h"
#include "core/text/number.h"

namespace ddbench::analyzer {
namespace {

constexpr double kLargestShare = 10;
constexpr int kMostPairs = 10000;
constexpr int kMostRepeats = 20;

void require_share(double share, std::string_view what, std::string_view given) {
  if (std::isfinite(share) && share > 0 && share <= kLargestShare) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("{} is {}, but it must be above 0% and at most 1000% (3% or 0.03)", what, given));
}

void require_count(int value, int least, int most, std::string_view what) {
  if (value >= least && value <= most) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("{} is {}, but it must be from {} to {}", what, value, least, most));
}

}  // namespace

double GatePolicy::threshold_of(RunMetric metric) const {
  const auto own = thresholds.find(metric);
  return own == thresholds.end() ? threshold : own->second;
}

double parse_share(std::string_view text, std::string_view what) {
  const bool percent = text.ends_with('%');
  const auto value = number_from<double>(text.substr(0, text.size() - percent));
  if (!value || (!percent && *value >= 1)) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} is \"{}\", but it must be a percentage or a fraction below 1: 3% or 0.03",
                            what, text));
  }
  const double share = percent ? *value / 100 : *value;
  require_share(share, what, fmt::format("\"{}\"", text));
  return share;
}

std::vector<RunMetric> parse_metrics(std::string_view text) {
  std::vector<RunMetric> metrics;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const RunMetric metric = run_metric_from(text.substr(begin, end - begin));
    if (std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) metrics.push_back(metric);
    begin = end + 1;
  }
  return metrics;
}

void validate(const GatePolicy& policy) {
  if (policy.metrics.empty()) throw Error(ErrorCode::kBadInput, "a gate needs a metric or more");
  require_share(policy.threshold, "threshold", fmt::format("{:g}", policy.threshold));
  for (const auto& [metric, share] : policy.thresholds) {
    require_share(share, fmt::format("the threshold of {}", to_string(metric)), fmt::format("{:g}", share));
  }
  require_share(policy.session_spread, "session_spread", fmt::format("{:g}", policy.session_spread));
  require_share(policy.drift_spread, "drift_spread", fmt::format("{:g}", policy.drift_spread));
  if (!(policy.confidence >= 0.5 && policy.confidence < 1)) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("confidence is {:g}, but it must be from 0.5 to below 1, as 0.99", policy.confidence));
  }
  require_count(policy.min_pairs, 2, kMostPairs, "min_pairs");
  require_count(policy.repeat_on_fail, 0, kMostRepeats, "repeat_on_fail");
  require_count(policy.min_sessions, 2, kMostPairs, "min_sessions");
  for (const RunMetric metric : policy.metrics) {
    const double share = policy.threshold_of(metric);
    if (lower_is_better(metric) || share < 1) continue;
    throw Error(ErrorCode::kBadInput,
                fmt::format("the threshold of {} is {:g}%, but it cannot fall by 100% or more",
                            to_string(metric), share * 100));
  }
  check_varied_fields(policy.vary);
}

}  // namespace ddbench::analyzer
