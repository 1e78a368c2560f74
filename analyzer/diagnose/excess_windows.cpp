#include "analyzer/diagnose/excess_windows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "analyzer/statistics/statistics.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kMostGroups = 200;
constexpr std::size_t kMostRanks = 16;    // whose excess moves most
constexpr std::size_t kMostChanges = 10;  // of a rank
constexpr double kLeastMove = 0.04;       // of the step
constexpr std::size_t kLeastSegment = 4;  // groups
constexpr double kKolmogorov = 1.63;      // exceeded by chance once in a hundred series of independent values

std::vector<double> grouped_medians(const std::vector<double>& values, std::size_t group) {
  std::vector<double> medians;
  for (std::size_t first = 0; first + group <= values.size(); first += group) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
    medians.push_back(median(std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(group))));
  }
  return medians;
}

/// Distance between the fifth and the ninety-fifth percentile.
double spread_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return quantile(values, 0.95) - quantile(values, 0.05);
}

std::vector<double> ranks_of(const std::vector<double>& values, std::size_t first, std::size_t end) {
  std::vector<std::size_t> order(end - first);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[first + a] < values[first + b]; });
  std::vector<double> ranks(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) ranks[order[i]] = static_cast<double>(i);
  return ranks;
}

struct Split {
  std::size_t at = 0;
  double statistic = 0;  ///< largest sum of ranks' deviations / (standard deviation of a rank * sqrt(n))
};

/// The split at which the sum of the deviations of ranks from their mean is largest (Pettitt 1979): a single
/// outlier moves it little.
Split best_split(const std::vector<double>& values, std::size_t first, std::size_t end) {
  const std::vector<double> ranks = ranks_of(values, first, end);
  const auto count = static_cast<double>(ranks.size());
  const double scale = std::sqrt((count * count - 1) / 12 * count);
  Split split;
  double sum = 0;
  for (std::size_t i = 0; i + 1 < ranks.size(); ++i) {
    sum += ranks[i] - (count - 1) / 2;
    if (i + 1 < kLeastSegment || ranks.size() - i - 1 < kLeastSegment) continue;
    if (std::abs(sum) <= split.statistic * scale) continue;
    split = {first + i + 1, std::abs(sum) / scale};
  }
  return split;
}

double median_of(const std::vector<double>& values, std::size_t first, std::size_t end) {
  return median(std::vector<double>(values.begin() + static_cast<std::ptrdiff_t>(first),
                                    values.begin() + static_cast<std::ptrdiff_t>(end)));
}

/// The split between these two levels with the least absolute deviations: ranks alone put it some values off.
std::size_t refined(const std::vector<double>& values, std::size_t first, std::size_t end, std::size_t at) {
  const double before = median_of(values, first, at);
  const double after = median_of(values, at, end);
  double gain = 0;
  double most = -std::numeric_limits<double>::infinity();
  std::size_t best = at;
  for (std::size_t i = first; i < end; ++i) {
    gain += std::abs(values[i] - after) - std::abs(values[i] - before);  // of this value before the split, not after it
    const std::size_t split = i + 1;
    if (split - first < kLeastSegment || end - split < kLeastSegment || gain <= most) continue;
    most = gain;
    best = split;
  }
  return best;
}

/// Splits until no part has two levels that differ by `least_move`.
void split_further(const std::vector<double>& values, std::size_t first, std::size_t end, double least_move,
                   std::set<std::size_t>& changes) {
  if (end - first < 2 * kLeastSegment || changes.size() >= kMostChanges) return;
  Split split = best_split(values, first, end);
  if (split.statistic < kKolmogorov) return;
  split.at = refined(values, first, end, split.at);
  if (std::abs(median_of(values, split.at, end) - median_of(values, first, split.at)) < least_move) return;
  changes.insert(split.at);
  split_further(values, first, split.at, least_move, changes);
  split_further(values, split.at, end, least_move, changes);
}

/// Rows at which the level changes, the whole run's ends included.
std::vector<std::size_t> changes_of(const std::vector<double>& medians, std::size_t group, std::size_t rows,
                                    double least_move) {
  std::set<std::size_t> at;
  split_further(medians, 0, medians.size(), least_move, at);
  std::vector<std::size_t> changes = {0};
  for (const std::size_t change : at) changes.push_back(change * group);
  changes.push_back(rows);
  return changes;
}

}  // namespace

std::vector<std::size_t> level_changes(const std::vector<double>& values, double least_move) {
  const std::size_t group = std::max<std::size_t>(1, values.size() / kMostGroups);
  return changes_of(grouped_medians(values, group), group, values.size(), least_move);
}

std::vector<StepWindowRows> excess_windows(const WorkTable& table, std::size_t least_steps) {
  const std::size_t rows = table.step_count();
  const std::size_t group = std::max<std::size_t>(1, rows / kMostGroups);
  const double step_ns = table.step_ns.empty() ? 0 : median(table.step_ns);
  std::vector<std::pair<double, std::vector<double>>> moving;
  for (std::size_t rank = 0; rank < table.rank_count(); ++rank) {
    std::vector<double> medians = grouped_medians(excess_of(table, rank), group);
    const double spread = spread_of(medians);
    if (spread >= kLeastMove * step_ns) moving.emplace_back(spread, std::move(medians));
  }
  std::sort(moving.begin(), moving.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (moving.size() > kMostRanks) moving.resize(kMostRanks);
  std::set<std::pair<std::size_t, std::size_t>> windows = {{0, rows}};
  for (const auto& [spread, medians] : moving) {
    const std::vector<std::size_t> changes = changes_of(medians, group, rows, kLeastMove * step_ns);
    for (std::size_t i = 0; i < changes.size(); ++i) {
      for (std::size_t j = i + 1; j < changes.size(); ++j) {
        if (changes[j] >= changes[i] + least_steps) windows.emplace(changes[i], changes[j]);
      }
    }
  }
  std::vector<StepWindowRows> result;
  for (const auto& [first, end] : windows) result.push_back({first, end});
  return result;
}

}  // namespace ddbench::analyzer
