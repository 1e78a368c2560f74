#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/statistics/log_ratio.h"
#include "analyzer/statistics/moments.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

constexpr int kCoefficients = 25;
constexpr double kCoefficientStep = 0.04;  // 0, 0.04, ..., 0.96
constexpr double kLeastResidual = 1e-5;    // of a log: equal runs must not make the likelihood infinite
constexpr double kLeastWeight = 1e-6;
constexpr double kTrendStandsOut = 2;  // standard errors

struct Sides {
  RunMoments baseline;
  RunMoments candidate;
};

Sides moments_of(std::span<const TimedValue> runs) {
  std::vector<double> baseline;
  std::vector<double> candidate;
  for (const TimedValue& run : runs) (run.candidate ? candidate : baseline).push_back(run.value);
  return {run_moments(baseline), run_moments(candidate)};
}

struct Fit {
  double innovation_variance = 0;
  double log_likelihood = 0;  ///< restricted: level and difference integrated out
};

/// Least squares of level and difference after the AR(1) transformation (Prais and Winsten 1954). Values are
/// deviations from `centre`, which keeps the sums of squares exact.
Fit fit_autoregression(std::span<const TimedValue> runs, double centre, double coefficient) {
  double ones = 0, ones_side = 0, side = 0, ones_y = 0, side_y = 0, yy = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const double keep = i == 0 ? std::sqrt(1 - coefficient * coefficient) : 1;
    const double carry = i == 0 ? 0 : coefficient;
    const TimedValue before = i == 0 ? TimedValue{centre, false} : runs[i - 1];
    const double level = keep - carry;
    const double difference = keep * runs[i].candidate - carry * before.candidate;
    const double y = keep * (runs[i].value - centre) - carry * (before.value - centre);
    ones += level * level;
    ones_side += level * difference;
    side += difference * difference;
    ones_y += level * y;
    side_y += difference * y;
    yy += y * y;
  }
  const double determinant = ones * side - ones_side * ones_side;
  const double level = (ones_y * side - side_y * ones_side) / determinant;
  const double difference = (side_y * ones - ones_y * ones_side) / determinant;
  const double freedom = static_cast<double>(runs.size()) - 2;
  const double left = yy - level * ones_y - difference * side_y;
  const double residual = std::max(left, freedom * kLeastResidual * kLeastResidual);
  Fit fit;
  fit.innovation_variance = residual / freedom;
  fit.log_likelihood = 0.5 * std::log(1 - coefficient * coefficient) - 0.5 * std::log(determinant) -
                       0.5 * freedom * std::log(residual);
  return fit;
}

/// Variance of the difference of the sides' means for innovations of variance 1.
double variance_of_difference(std::span<const TimedValue> runs, const Sides& sides, double coefficient) {
  const auto weight = [&](const TimedValue& run) {
    return run.candidate ? 1 / sides.candidate.count : -1 / sides.baseline.count;
  };
  double sum = 0;
  double correlation = 1;
  for (std::size_t lag = 0; lag < runs.size(); ++lag, correlation *= coefficient) {
    for (std::size_t i = 0; i + lag < runs.size(); ++i) {
      sum += (lag == 0 ? 1 : 2) * weight(runs[i]) * weight(runs[i + lag]) * correlation;
    }
  }
  return sum / (1 - coefficient * coefficient);
}

/// By how much a linear trend that the runs show inside their sides moves the difference of the sides' means;
/// 0 when no trend stands out of the noise.
double trend_between(std::span<const TimedValue> runs, const Sides& sides) {
  if (runs.size() < 4) return 0;
  std::array<double, 2> middle{};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const double count = runs[i].candidate ? sides.candidate.count : sides.baseline.count;
    middle[runs[i].candidate] += static_cast<double>(i) / count;
  }
  double xx = 0, xy = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const double x = static_cast<double>(i) - middle[runs[i].candidate];
    xx += x * x;
    xy += x * (runs[i].value - (runs[i].candidate ? sides.candidate.mean : sides.baseline.mean));
  }
  const double yy = sides.baseline.squares + sides.candidate.squares;
  const double slope = xy / xx;
  const double error =
      std::sqrt(std::max(0.0, yy - slope * xy) / (static_cast<double>(runs.size()) - 3) / xx);
  return std::abs(slope) > kTrendStandsOut * error ? std::abs(slope * (middle[1] - middle[0])) : 0;
}

/// How much wider than for independent runs the difference's variance is, for each coefficient of the grid.
std::vector<LogRatio::Component> autocorrelated(std::span<const TimedValue> runs, const Sides& sides,
                                                double welch, double freedom) {
  const double all = sides.baseline.count + sides.candidate.count;
  const double centre =
      (sides.baseline.mean * sides.baseline.count + sides.candidate.mean * sides.candidate.count) / all;
  std::array<Fit, kCoefficients> fits;
  double best = -INFINITY;
  for (int i = 0; i < kCoefficients; ++i) {
    fits[i] = fit_autoregression(runs, centre, i * kCoefficientStep);
    best = std::max(best, fits[i].log_likelihood);
  }
  const double white = fits[0].innovation_variance * variance_of_difference(runs, sides, 0);
  std::vector<LogRatio::Component> components;
  double total = 0;
  for (int i = 0; i < kCoefficients; ++i) {
    const double variance =
        fits[i].innovation_variance * variance_of_difference(runs, sides, i * kCoefficientStep);
    const double weight = std::exp(fits[i].log_likelihood - best);
    components.push_back({weight, std::sqrt(welch * std::max(1.0, variance / white)), freedom});
    total += weight;
  }
  // What has next to no weight would only cost time.
  std::erase_if(components, [&](const LogRatio::Component& component) {
    return component.weight < kLeastWeight * total;
  });
  total = 0;
  for (const LogRatio::Component& component : components) total += component.weight;
  for (LogRatio::Component& component : components) component.weight /= total;
  return components;
}

}  // namespace

LogRatio sequence_log_ratio(std::span<const TimedValue> runs) {
  const Sides sides = moments_of(runs);
  const RunMoments& a = sides.baseline;
  const RunMoments& b = sides.candidate;
  if (a.count < 2 || b.count < 2) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} and {} runs: a comparison of runs needs 2 or more a side", a.count, b.count));
  }
  const double share_a = std::max(a.variance / a.count, kLeastSpread * kLeastSpread / 2);
  const double share_b = std::max(b.variance / b.count, kLeastSpread * kLeastSpread / 2);
  const double welch = share_a + share_b;
  const double freedom =
      welch * welch / (share_a * share_a / (a.count - 1) + share_b * share_b / (b.count - 1));
  std::vector<LogRatio::Component> components = autocorrelated(runs, sides, welch, freedom);
  double inflation = 0;
  for (const LogRatio::Component& c : components) inflation += c.weight * c.scale * c.scale / welch;
  const LogRatio ratio(
      b.mean - a.mean, std::move(components),
      fmt::format("Welch t over {} and {} runs, {:.1f} df, variance x{:.1f} for autocorrelation", a.count,
                  b.count, freedom, inflation));
  const double trend = trend_between(runs, sides);
  return trend > 0 ? ratio.with_spread(trend, fmt::format("{:.1f}% for a trend", trend * 100)) : ratio;
}

}  // namespace ddbench::analyzer
