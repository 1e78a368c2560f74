#include "analyzer/finalize/compute_slowdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analyzer/attribution/summarize_step.h"
#include "analyzer/statistics/quantiles.h"

namespace ddbench::analyzer {
namespace {

constexpr std::uint32_t kStepsInAGroup = 4;  // side by side: steps are alike their neighbours
constexpr double kLeastSpread = 5;           // about ten operators with, and ten without
constexpr std::size_t kFewestGroups = 4;

struct Interval {
  std::int64_t begin_ns;
  std::int64_t end_ns;
};

/// The union of the rank's collectives, in order of time.
std::vector<Interval> communication_of(std::span<const Span> spans) {
  std::vector<Interval> intervals;
  for (const Span& span : spans) {
    if (span.kind == SpanKind::kCommunication && span.end_ns > span.begin_ns)
      intervals.push_back({span.begin_ns, span.end_ns});
  }
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; });
  std::vector<Interval> merged;
  for (const Interval& interval : intervals) {
    if (merged.empty() || interval.begin_ns > merged.back().end_ns) {
      merged.push_back(interval);
    } else {
      merged.back().end_ns = std::max(merged.back().end_ns, interval.end_ns);
    }
  }
  return merged;
}

/// The share of the span's time that lies in `intervals`.
double share_inside(const Span& span, const std::vector<Interval>& intervals) {
  auto at = std::partition_point(intervals.begin(), intervals.end(), [&](const Interval& interval) {
    return interval.end_ns <= span.begin_ns;
  });
  std::int64_t inside_ns = 0;
  for (; at != intervals.end() && at->begin_ns < span.end_ns; ++at) {
    inside_ns += std::min(at->end_ns, span.end_ns) - std::max(at->begin_ns, span.begin_ns);
  }
  return static_cast<double>(inside_ns) / static_cast<double>(span.end_ns - span.begin_ns);
}

}  // namespace

void ComputeSlowdown::add(std::size_t rank, std::span<const Span> spans, std::span<const std::string> names,
                          const StepRange& range) {
  const std::vector<Interval> communication = communication_of(spans);
  communicates_ = communicates_ || !communication.empty();
  if (communication.empty()) return;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const Span*>> by_step_and_name;
  for (const Span& span : spans) {
    if (!is_compute(span.kind) || span.end_ns <= span.begin_ns || !range.holds(span.step)) continue;
    if (span.name_id >= names.size() || names[span.name_id] == kReducedName) continue;
    by_step_and_name[{span.step, span.name_id}].push_back(&span);
  }
  for (auto& [key, operators] : by_step_and_name) {
    const auto& [step, name] = key;
    const bool repeats = operators.size() % micro_batches_ == 0;
    const std::size_t in_a_batch = repeats ? operators.size() / micro_batches_ : operators.size();
    for (std::size_t i = 0; i < operators.size(); ++i) {
      const double share = share_inside(*operators[i], communication);
      const auto time_ns = static_cast<double>(operators[i]->duration_ns());
      Sums& sums = operators_[{rank, name, i % in_a_batch}][step / kStepsInAGroup % kGroups];
      sums.count += 1;
      sums.share += share;
      sums.share_squared += share * share;
      sums.log_time += std::log(time_ns);
      sums.share_log_time += share * std::log(time_ns);
      sums.time_ns += time_ns;
    }
  }
}

ComputeSlowdown::Sums& ComputeSlowdown::Sums::operator+=(const Sums& other) {
  count += other.count;
  share += other.share;
  share_squared += other.share_squared;
  log_time += other.log_time;
  share_log_time += other.share_log_time;
  time_ns += other.time_ns;
  return *this;
}

void ComputeSlowdown::add(const ComputeSlowdown& other) {
  communicates_ = communicates_ || other.communicates_;
  for (const auto& [key, groups] : other.operators_) {
    auto& sums = operators_[key];
    for (std::size_t group = 0; group < kGroups; ++group) sums[group] += groups[group];
  }
}

ComputeSlowdown::Fit ComputeSlowdown::fit_without(std::size_t left_out) const {
  double products = 0;
  double squares = 0;
  Fit fit;
  for (const auto& [key, groups] : operators_) {
    Sums all;
    for (std::size_t group = 0; group < kGroups; ++group) {
      if (group == left_out) continue;
      all += groups[group];
    }
    if (all.count < 2) continue;
    const double weight = all.time_ns / all.count;
    const double spread = all.share_squared - all.share * all.share / all.count;
    products += weight * (all.share_log_time - all.share * all.log_time / all.count);
    squares += weight * spread;
    fit.spread += spread;
  }
  fit.slope = squares > 0 ? products / squares : 0;
  return fit;
}

Measured<Estimate> ComputeSlowdown::percent() const {
  using Slowdown = Measured<Estimate>;
  if (!communicates_) return Slowdown::missing("no communication");
  if (operators_.empty()) return Slowdown::missing("no operators were recorded");
  std::set<std::size_t> used;
  for (const auto& [key, groups] : operators_) {
    for (std::size_t group = 0; group < kGroups; ++group)
      if (groups[group].count > 0) used.insert(group);
  }
  if (used.size() < kFewestGroups) return Slowdown::missing("too few steps");
  const Fit whole = fit_without(kGroups);
  std::vector<double> slopes;
  for (const std::size_t group : used) {
    const Fit fit = fit_without(group);
    if (fit.spread < kLeastSpread) {
      return Slowdown::missing(
          "each operator ran either always or never beside communication (a run with gradient accumulation shows both)");
    }
    slopes.push_back(fit.slope);
  }
  const auto count = static_cast<double>(slopes.size());
  double squares = 0;
  for (const double slope : slopes) squares += std::pow(slope - mean(slopes), 2);
  const double half = t_quantile(0.975, count - 1) * std::sqrt(squares * (count - 1) / count);
  const auto in_percent = [](double slope) { return 100 * std::expm1(slope); };
  return Estimate{in_percent(whole.slope),
                  {in_percent(whole.slope - half), in_percent(whole.slope + half), 0.95,
                   fmt::format("jackknife over {} groups of steps", slopes.size())}};
}

}  // namespace ddbench::analyzer
