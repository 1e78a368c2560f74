#include "ddbench/analyzer/change_points.h"

#include <algorithm>
#include <random>

#include "ddbench/analyzer/statistics.h"

namespace ddbench::analyzer {
namespace {

/// Count and sum of the values seen so far up to a rank: two binary indexed trees (Fenwick 1994) in one.
class RankedSums {
 public:
  explicit RankedSums(std::size_t ranks) : count_(ranks + 1, 0), sum_(ranks + 1, 0) {}

  void add(std::size_t rank, double value) {
    for (std::size_t i = rank + 1; i < count_.size(); i += i & (~i + 1)) {
      count_[i] += 1;
      sum_[i] += value;
    }
    total_ += value;
    seen_ += 1;
  }
  /// Sum of |value - other| over all values seen.
  double distance_to(std::size_t rank, double value) const {
    double below = 0;
    double sum_below = 0;
    for (std::size_t i = rank + 1; i > 0; i -= i & (~i + 1)) {
      below += count_[i];
      sum_below += sum_[i];
    }
    return value * below - sum_below + (total_ - sum_below) - value * (seen_ - below);
  }

 private:
  std::vector<double> count_;
  std::vector<double> sum_;
  double total_ = 0;
  double seen_ = 0;
};

std::vector<std::size_t> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<std::size_t> ranks(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) ranks[order[i]] = i;
  return ranks;
}

/// distances[i]: sum of |values[i] - values[j]| over j < i.
std::vector<double> distances_to_earlier(std::span<const double> values,
                                         const std::vector<std::size_t>& ranks) {
  RankedSums earlier(values.size());
  std::vector<double> distances(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    distances[i] = earlier.distance_to(ranks[i], values[i]);
    earlier.add(ranks[i], values[i]);
  }
  return distances;
}

struct Split {
  std::size_t index = 0;
  double statistic = -1;
};

/// The split of a segment with the largest energy statistic
///   mn/(m+n) * (2/(mn) sum|x-y| - 2/(m(m-1)) sum|x-x'| - 2/(n(n-1)) sum|y-y'|).
Split best_split(std::span<const double> values, std::size_t least_segment) {
  Split best;
  if (values.size() < 2 * least_segment) return best;
  const std::vector<std::size_t> ranks = ranks_of(values);
  const std::vector<double> to_earlier = distances_to_earlier(values, ranks);
  RankedSums all(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) all.add(ranks[i], values[i]);
  double within_right = 0;
  for (const double distance : to_earlier) within_right += distance;
  double within_left = 0;
  double between = 0;
  const auto total = static_cast<double>(values.size());
  for (std::size_t i = 0; i + least_segment < values.size(); ++i) {
    const double to_later = all.distance_to(ranks[i], values[i]) - to_earlier[i];
    within_left += to_earlier[i];
    within_right -= to_later;
    between += to_later - to_earlier[i];
    const double left = static_cast<double>(i + 1);
    const double right = total - left;
    if (i + 1 < least_segment) continue;
    double statistic = 2 * between / (left * right);
    if (left > 1) statistic -= 2 * within_left / (left * (left - 1));
    if (right > 1) statistic -= 2 * within_right / (right * (right - 1));
    statistic *= left * right / total;
    if (statistic > best.statistic) best = {i + 1, statistic};
  }
  return best;
}

using Bounds = std::vector<std::size_t>;  // 0, change points, length

Split best_split_of_all(std::span<const double> values, const Bounds& bounds, std::size_t least_segment) {
  Split best;
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    Split split = best_split(values.subspan(bounds[i], bounds[i + 1] - bounds[i]), least_segment);
    split.index += bounds[i];
    if (split.statistic > best.statistic) best = split;
  }
  return best;
}

/// std::shuffle differs between standard libraries; the same history must give the same answer everywhere.
void shuffle_segments(std::vector<double>& values, const Bounds& bounds, std::mt19937_64& generator) {
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    for (std::size_t left = bounds[i + 1] - bounds[i]; left > 1; --left) {
      const auto pick = static_cast<std::size_t>((generator() >> 32) * left >> 32);
      std::swap(values[bounds[i] + pick], values[bounds[i] + left - 1]);
    }
  }
}

/// Besag and Clifford (1991): stops once the split cannot become significant any more.
double permutation_p_value(std::span<const double> values, const Bounds& bounds, double statistic,
                           const ChangePointOptions& options, std::mt19937_64& generator) {
  std::vector<double> shuffled(values.begin(), values.end());
  const double most_allowed = options.significance * (options.permutations + 1);
  int as_extreme = 0;
  for (int drawn = 1; drawn <= options.permutations; ++drawn) {
    shuffle_segments(shuffled, bounds, generator);
    // Sums taken in another order differ in their last bits: ties count as extreme.
    as_extreme +=
        best_split_of_all(shuffled, bounds, options.least_segment).statistic >= statistic * (1 - 1e-9);
    if (as_extreme + 1 > most_allowed) return static_cast<double>(as_extreme + 1) / (drawn + 1);
  }
  return static_cast<double>(as_extreme + 1) / (options.permutations + 1);
}

double median_between(std::span<const double> values, std::size_t begin, std::size_t end) {
  const auto part = values.subspan(begin, end - begin);
  return median({part.begin(), part.end()});
}

}  // namespace

std::vector<ChangePoint> change_points(std::span<const double> values, const ChangePointOptions& options) {
  std::mt19937_64 generator(options.seed);
  Bounds bounds{0, values.size()};
  std::vector<ChangePoint> found;
  while (true) {
    const Split split = best_split_of_all(values, bounds, options.least_segment);
    if (split.statistic <= 0) break;
    const double p_value = permutation_p_value(values, bounds, split.statistic, options, generator);
    if (p_value > options.significance) break;
    found.push_back({split.index, p_value});
    bounds.insert(std::upper_bound(bounds.begin(), bounds.end(), split.index), split.index);
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].before = median_between(values, bounds[i], bounds[i + 1]);
    found[i].after = median_between(values, bounds[i + 1], bounds[i + 2]);
  }
  return found;
}

}  // namespace ddbench::analyzer
