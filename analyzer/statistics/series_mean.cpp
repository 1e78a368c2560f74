#include "analyzer/statistics/series_mean.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/statistics/moments.h"
#include "analyzer/statistics/student_mixture.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kMostBatches = 48;
constexpr int kMeanCoefficients = 32;
constexpr double kLeastCoefficient = -0.3;
constexpr double kLargestCoefficient = 0.98;
constexpr double kLeastMeanWeight = 1e-6;

/// Means of consecutive batches whose sizes differ by one value at most.
std::vector<double> batch_means(std::span<const double> values) {
  const std::size_t size = (values.size() + kMostBatches - 1) / kMostBatches;
  const std::size_t count = values.size() / size;
  std::vector<double> means(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = i * values.size() / count;
    const std::size_t end = (i + 1) * values.size() / count;
    means[i] = mean(values.subspan(begin, end - begin));
  }
  return means;
}

/// What the likelihood of an AR(1) process needs of deviations from their mean.
struct Deviations {
  double count = 0;
  double first = 0;
  double last = 0;
  double squares = 0;
  double lagged = 0;  ///< sum of products of neighbours

  explicit Deviations(std::span<const double> values) {
    const double centre = mean(values);
    count = static_cast<double>(values.size());
    first = values.front() - centre;
    last = values.back() - centre;
    for (std::size_t i = 0; i < values.size(); ++i) {
      squares += (values[i] - centre) * (values[i] - centre);
      if (i > 0) lagged += (values[i] - centre) * (values[i - 1] - centre);
    }
  }
};

struct MeanFit {
  double log_weight = 0;
  double scale = 0;  ///< standard error of the plain mean
};

/// Least squares of the level after the transformation of Prais and Winsten (1954), restricted likelihood.
MeanFit fit_coefficient(const Deviations& d, double phi) {
  const double stationary = 1 - phi * phi;
  const double information = stationary + (d.count - 1) * (1 - phi) * (1 - phi);
  // Deviations sum to 0, so that sums that leave out the first or the last are known from these two.
  const double projection = stationary * d.first + (1 - phi) * (phi * d.last - d.first);
  const double squares = stationary * d.first * d.first + (d.squares - d.first * d.first) -
                         2 * phi * d.lagged + phi * phi * (d.squares - d.last * d.last);
  const double residual = squares - projection * projection / information;
  const double variance_of_mean =
      ((1 + phi) / (1 - phi) - 2 * phi * (1 - std::pow(phi, d.count)) / (d.count * (1 - phi) * (1 - phi))) /
      d.count / stationary;
  MeanFit fit;
  fit.log_weight =
      0.5 * std::log(stationary) - 0.5 * std::log(information) - 0.5 * (d.count - 1) * std::log(residual);
  fit.scale = std::sqrt(residual / (d.count - 1) * variance_of_mean);
  return fit;
}

/// The error of the plain mean. `values` are not all equal.
StudentMixture error_of_mean(std::span<const double> values) {
  const Deviations deviations(values);
  std::vector<StudentMixture::Component> components;
  std::vector<double> log_weights;
  const double from = std::atanh(kLeastCoefficient);
  const double step = (std::atanh(kLargestCoefficient) - from) / kMeanCoefficients;
  for (int i = 0; i < kMeanCoefficients; ++i) {
    const double phi = std::tanh(from + step * (i + 0.5));
    const MeanFit fit = fit_coefficient(deviations, phi);
    // The prior 1 / sqrt(1 - phi^2), times (1 - phi^2) for the grid's spacing.
    log_weights.push_back(fit.log_weight + 0.5 * std::log(1 - phi * phi));
    components.push_back({0, fit.scale, deviations.count - 1});
  }
  const double largest = *std::max_element(log_weights.begin(), log_weights.end());
  double total = 0;
  for (std::size_t i = 0; i < components.size(); ++i) {
    const double weight = std::exp(log_weights[i] - largest);
    components[i].weight = weight < kLeastMeanWeight ? 0 : weight;  // next to no weight would only cost time
    total += components[i].weight;
  }
  std::erase_if(components, [](const auto& component) { return component.weight == 0; });
  for (auto& component : components) component.weight /= total;
  return StudentMixture(std::move(components));
}

struct SeriesError {
  double mean = 0;
  double reach = 0;  ///< half of the interval's width
  double effective_count = 0;
};

Measured<SeriesError> series_error(std::span<const double> values, double level) {
  if (values.size() < kFewestForSeriesMean) {
    return Measured<SeriesError>::missing(
        fmt::format("{} step(s): an interval needs {} or more", values.size(), kFewestForSeriesMean));
  }
  if (!std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); }))
    return Measured<SeriesError>::missing("a step's time is not a finite number");
  const RunMoments moments = run_moments(values);
  SeriesError error{moments.mean, 0, moments.count};
  const std::vector<double> batches = batch_means(values);
  // Equal but for rounding: nothing to fit.
  const double rounding = 1e-12 * std::max(std::abs(moments.mean), std::sqrt(moments.variance));
  if (std::sqrt(run_moments(batches).variance) <= rounding) return error;
  const StudentMixture mixture = error_of_mean(batches);
  error.reach = mixture.quantile((1 + level) / 2);
  double variance = 0;
  for (const auto& component : mixture.components())
    variance += component.weight * component.scale * component.scale;
  error.effective_count = std::clamp(moments.variance / variance, 1.0, moments.count);
  return error;
}

SeriesMean series_mean(const SeriesError& error, double low, double high, std::size_t count, double level) {
  return {{error.mean,
           {low, high, level,
            fmt::format("Student's t, autocorrelated steps (n={}, worth {:.0f} independent)", count,
                        error.effective_count)}},
          error.effective_count};
}

/// Why the values do not bound their mean.
std::string reason_without_bounds(std::span<const double> values, const SeriesError& error) {
  const auto squared = [&](double value) { return (value - error.mean) * (value - error.mean); };
  const auto furthest = std::max_element(values.begin(), values.end(), [&](double a, double b) { return squared(a) < squared(b); });
  if (squared(*furthest) > run_moments(values).squares / 2) {
    return fmt::format("one step dominates, with {:.0f}% of the time: measure more steps, or a longer warm-up",
                       100 * *furthest / (error.mean * static_cast<double>(values.size())));
  }
  return fmt::format("the steps are too correlated or scatter too much: n={}, worth {:.0f} independent: measure more steps, or a longer warm-up",
                     values.size(), error.effective_count);
}

}  // namespace

Measured<SeriesMean> mean_of_steps(std::span<const double> values, double level) {
  const Measured<SeriesError> error = series_error(values, level);
  if (!error) return Measured<SeriesMean>::missing(error.reason());
  if (error->mean <= 0) return Measured<SeriesMean>::missing("steps took no time: their clock stood still");
  // On the plain scale the interval would hold 0, and on the log scale it would span orders of magnitude.
  if (error->reach >= error->mean) return Measured<SeriesMean>::missing(reason_without_bounds(values, *error));
  const double factor = std::exp(error->reach / error->mean);
  return series_mean(*error, error->mean / factor, error->mean * factor, values.size(), level);
}

}  // namespace ddbench::analyzer
