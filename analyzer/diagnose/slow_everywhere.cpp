#include "analyzer/diagnose/slow_everywhere.h"

#include <algorithm>
#include <cmath>

#include "analyzer/diagnose/excess_windows.h"
#include "analyzer/statistics/series_mean.h"
#include "analyzer/statistics/statistics.h"

namespace ddbench::analyzer {
namespace {

constexpr double kLeastMoveOfAll = 0.05;     // of the step
constexpr double kOnEachRank = 0.5;     // of the median rank's excess
constexpr double kTakenForHealthy = 3;  // standard deviations of the means before

double compute_at(const WorkTable& table, std::size_t row, std::size_t rank) { return table.at(row, rank)[OwnPart::kCompute]; }

std::vector<double> median_compute(const WorkTable& table) {
  std::vector<double> compute;
  for (std::size_t row = 0; row < table.step_count(); ++row) {
    std::vector<double> ranks;
    for (std::size_t rank = 0; rank < table.rank_count(); ++rank) ranks.push_back(compute_at(table, row, rank));
    compute.push_back(median(std::move(ranks)));
  }
  return compute;
}

double mean_between(const std::vector<double>& values, StepWindowRows window) {
  double sum = 0;
  for (std::size_t i = window.first; i < window.end; ++i) sum += values[i];
  return sum / static_cast<double>(window.size());
}

double least_excess_of_a_rank(const WorkTable& table, StepWindowRows before, StepWindowRows window) {
  std::vector<double> excess;
  for (std::size_t rank = 0; rank < table.rank_count(); ++rank) {
    std::vector<double> compute;
    for (std::size_t row = 0; row < table.step_count(); ++row) compute.push_back(compute_at(table, row, rank));
    excess.push_back(mean_between(compute, window) - mean_between(compute, before));
  }
  return *std::min_element(excess.begin(), excess.end());
}

double lowest_ratio(const std::vector<double>& compute, StepWindowRows window, double before_ns, double level) {
  std::vector<double> ratio;
  for (std::size_t i = window.first; i < window.end; ++i) ratio.push_back(compute[i] / before_ns);
  const auto interval = mean_of_steps(ratio, level);
  return interval ? interval->estimate.interval.low : 0;
}

/// Means over an eighth of the steps before vary by chance, too.
bool stands_out(const std::vector<double>& compute, StepWindowRows before, double excess_ns) {
  const std::size_t length = std::max<std::size_t>(before.size() / 8, 1);
  std::vector<double> means;
  for (std::size_t first = before.first; first + length <= before.end; first += length)
    means.push_back(mean_between(compute, {first, first + length}));
  const double centre = mean(means);
  double squares = 0;
  for (const double each : means) squares += (each - centre) * (each - centre);
  return excess_ns >= kTakenForHealthy * std::sqrt(squares / static_cast<double>(means.size()));
}

std::optional<SlowEverywhere> judged(const WorkTable& table, const std::vector<double>& compute, SlowEverywhere found,
                                     const CulpritLimits& limits) {
  const double before_ns = mean_between(compute, found.before);
  if (before_ns <= 0) return std::nullopt;
  found.excess_ns = mean_between(compute, found.window) - before_ns;
  found.cost_share = found.excess_ns / std::max(mean_between(table.step_ns, found.window), 1.0);
  if (found.cost_share < limits.least_cost || !stands_out(compute, found.before, found.excess_ns)) return std::nullopt;
  if (least_excess_of_a_rank(table, found.before, found.window) < kOnEachRank * found.excess_ns) return std::nullopt;
  found.slowdown_low = lowest_ratio(compute, found.window, before_ns, limits.level);
  if (found.slowdown_low <= 1) return std::nullopt;
  return found;
}

}  // namespace

std::optional<SlowEverywhere> find_slow_everywhere(const WorkTable& table, const CulpritLimits& limits) {
  const std::size_t rows = table.step_count();
  const std::size_t least = std::max(limits.least_steps, rows / 10);
  if (rows < 2 * least) return std::nullopt;
  const std::vector<double> compute = median_compute(table);
  const std::vector<std::size_t> changes = level_changes(compute, kLeastMoveOfAll * median(table.step_ns));
  std::optional<SlowEverywhere> best;
  for (std::size_t i = 1; i + 1 < changes.size(); ++i) {
    for (std::size_t j = i + 1; j < changes.size(); ++j) {
      SlowEverywhere found;
      found.before = {0, changes[i]};
      found.window = {changes[i], changes[j]};
      if (found.before.size() < least || found.window.size() < least) continue;
      const auto one = judged(table, compute, found, limits);
      const auto lost = [](const SlowEverywhere& each) { return each.excess_ns * static_cast<double>(each.window.size()); };
      if (one && (!best || lost(*one) > lost(*best))) best = one;
    }
  }
  return best;
}

}  // namespace ddbench::analyzer
