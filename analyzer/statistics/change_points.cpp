#include "analyzer/statistics/change_points.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "analyzer/statistics/statistics.h"

namespace ddbench::analyzer {
namespace {

constexpr int kShiftCoefficients = 10;  // of the autoregression: 0, 0.1, ..., 0.9
constexpr double kShiftCoefficientStep = 0.1;
constexpr double kLeastResidualShare = 1e-10;  // equal values must not make the likelihood infinite
constexpr double kMostPermutedValues = 2e5;    // bounds the time that a very long history takes
constexpr int kFewestPermutations = 199;

/// How much better an AR(1) process with one change of level explains a segment than one without.
struct Shift {
  std::size_t index = 0;         ///< of the first value after the change
  double log_likelihood = -1;    ///< gain, at the best index
  double null_coefficient = 0;   ///< of the autoregression without a change
};

/// Least squares after the transformation of Prais and Winsten (1954), for each coefficient. The shift's
/// column is 0 before its index, 1 at it and 1 - phi after it.
class ShiftSearch {
 public:
  explicit ShiftSearch(std::span<const double> values) : values_(values), later_(values.size() + 1) {
    const double centre = mean(values);
    for (const double value : values) total_squares_ += (value - centre) * (value - centre);
    centre_ = centre;
  }

  Shift best(std::size_t least_segment) {
    Shift best;
    if (values_.size() < 2 * least_segment || total_squares_ <= 0) return best;
    double without = -INFINITY;
    double with = -INFINITY;
    double restricted = -INFINITY;
    const auto n = static_cast<double>(values_.size());
    for (int i = 0; i < kShiftCoefficients; ++i) {
      const double phi = i * kShiftCoefficientStep;
      transform(phi);
      const double stationary = 0.5 * std::log(1 - phi * phi);
      const double residual = at_least(squares_ - level_product_ * level_product_ / level_);
      without = std::max(without, stationary - n / 2 * std::log(residual));
      const double likelihood = stationary - 0.5 * std::log(level_) - (n - 1) / 2 * std::log(residual);
      if (likelihood > restricted) {
        restricted = likelihood;
        best.null_coefficient = phi;
      }
      for (std::size_t index = least_segment; index + least_segment <= values_.size(); ++index) {
        const double value = stationary - n / 2 * std::log(at_least(squares_ - explained(index)));
        if (value <= with) continue;
        with = value;
        best.index = index;
      }
    }
    best.log_likelihood = with - without;
    return best;
  }

 private:
  double at_least(double squares) const { return std::max(squares, kLeastResidualShare * total_squares_); }

  void transform(double phi) {
    const double first = std::sqrt(1 - phi * phi);
    const std::size_t count = values_.size();
    carried_ = 1 - phi;
    level_ = first * first + static_cast<double>(count - 1) * carried_ * carried_;
    squares_ = 0;
    later_[count] = 0;
    for (std::size_t i = count; i-- > 0;) {
      const double value = i == 0 ? first * (values_[0] - centre_)
                                  : (values_[i] - centre_) - phi * (values_[i - 1] - centre_);
      squares_ += value * value;
      later_[i] = later_[i + 1] + value;
    }
    level_product_ = first * (later_[0] - later_[1]) + carried_ * later_[1];
  }

  /// The squares that a level and a shift at `index` take away.
  double explained(std::size_t index) const {
    const auto after = static_cast<double>(values_.size() - index - 1);
    const double shift = 1 + after * carried_ * carried_;
    const double both = carried_ * (1 + after * carried_);
    const double product = later_[index] - later_[index + 1] + carried_ * later_[index + 1];
    const double determinant = level_ * shift - both * both;
    return (level_product_ * level_product_ * shift - 2 * level_product_ * product * both +
            product * product * level_) /
           determinant;
  }

  std::span<const double> values_;
  std::vector<double> later_;  ///< sums of the transformed values from an index on
  double centre_ = 0;
  double total_squares_ = 0;
  double carried_ = 1;  ///< 1 - phi
  double level_ = 0;    ///< the level's column times itself, and times the transformed values
  double level_product_ = 0;
  double squares_ = 0;
};

/// What is new in each value of an AR(1) process about the values' mean.
std::vector<double> innovations(std::span<const double> values, double phi) {
  const double centre = mean(values);
  std::vector<double> news(values.size());
  news[0] = std::sqrt(1 - phi * phi) * (values[0] - centre);
  for (std::size_t i = 1; i < values.size(); ++i)
    news[i] = (values[i] - centre) - phi * (values[i - 1] - centre);
  return news;
}

std::vector<double> process_of(const std::vector<double>& news, double phi) {
  std::vector<double> values(news.size());
  values[0] = news[0] / std::sqrt(1 - phi * phi);
  for (std::size_t i = 1; i < news.size(); ++i) values[i] = phi * values[i - 1] + news[i];
  return values;
}

/// std::shuffle differs between standard libraries; the same history must give the same answer everywhere.
void shuffle_values(std::vector<double>& values, std::mt19937_64& generator) {
  for (std::size_t left = values.size(); left > 1; --left) {
    const auto pick = static_cast<std::size_t>((generator() >> 32) * left >> 32);
    std::swap(values[pick], values[left - 1]);
  }
}

/// Besag and Clifford (1991): stops once the shift cannot become significant any more.
double permutation_p_value(std::span<const double> values, const Shift& shift,
                           const ChangePointOptions& options, std::mt19937_64& generator) {
  const int allowed = static_cast<int>(kMostPermutedValues / static_cast<double>(values.size()));
  const int permutations = std::min(options.permutations, std::max(kFewestPermutations, allowed));
  std::vector<double> news = innovations(values, shift.null_coefficient);
  const double most_allowed = options.significance * (permutations + 1);
  int as_extreme = 0;
  for (int drawn = 1; drawn <= permutations; ++drawn) {
    shuffle_values(news, generator);
    const std::vector<double> drawn_values = process_of(news, shift.null_coefficient);
    // Sums taken in another order differ in their last bits: ties count as extreme.
    as_extreme += ShiftSearch(drawn_values).best(options.least_segment).log_likelihood >=
                  shift.log_likelihood * (1 - 1e-9);
    if (as_extreme + 1 > most_allowed) return static_cast<double>(as_extreme + 1) / (drawn + 1);
  }
  return static_cast<double>(as_extreme + 1) / (permutations + 1);
}

/// Binary segmentation of values[begin, end).
void split_segment(std::span<const double> values, std::size_t begin, std::size_t end,
                   const ChangePointOptions& options, std::vector<ChangePoint>& found) {
  const std::span<const double> segment = values.subspan(begin, end - begin);
  if (segment.size() < 2 * options.least_segment) return;
  const Shift shift = ShiftSearch(segment).best(options.least_segment);
  if (shift.log_likelihood <= 0) return;
  std::mt19937_64 generator(options.seed + begin);
  const double p_value = permutation_p_value(segment, shift, options, generator);
  if (p_value > options.significance) return;
  split_segment(values, begin, begin + shift.index, options, found);
  found.push_back({begin + shift.index, p_value});
  split_segment(values, begin + shift.index, end, options, found);
}

double median_between(std::span<const double> values, std::size_t begin, std::size_t end) {
  const auto part = values.subspan(begin, end - begin);
  return median({part.begin(), part.end()});
}

}  // namespace

std::vector<ChangePoint> change_points(std::span<const double> values, const ChangePointOptions& options) {
  std::vector<ChangePoint> found;
  split_segment(values, 0, values.size(), options, found);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : found[i - 1].index;
    const std::size_t end = i + 1 == found.size() ? values.size() : found[i + 1].index;
    found[i].before = median_between(values, begin, found[i].index);
    found[i].after = median_between(values, found[i].index, end);
  }
  return found;
}

}  // namespace ddbench::analyzer
