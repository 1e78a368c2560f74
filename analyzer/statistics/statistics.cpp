#include "analyzer/statistics/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>

#include "analyzer/statistics/moments.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kMostResamples = 2000;
constexpr std::size_t kFewestResamples = 400;
constexpr std::size_t kDrawnValues = 4'000'000;  // bounds the time that a very long run takes
constexpr std::size_t kFewestSteps = 5;
constexpr std::uint64_t kSeed = 20261121;

/// Reorders the values.
double median_in_place(std::span<double> values) {
  const std::size_t middle = values.size() / 2;
  const auto upper = values.begin() + static_cast<std::ptrdiff_t>(middle);
  std::nth_element(values.begin(), upper, values.end());
  if (values.size() % 2 == 1) return *upper;
  const double lower = *std::max_element(values.begin(), upper);
  return lower + (*upper - lower) / 2;
}

/// std::uniform_int_distribution differs between libraries; the same run must give the same interval
/// everywhere.
std::size_t draw_below(std::mt19937_64& generator, std::size_t bound) {
  return static_cast<std::size_t>((generator() >> 32) * bound >> 32);
}

std::vector<double> signs_about_median(std::span<const double> values) {
  const double centre = median({values.begin(), values.end()});
  std::vector<double> signs(values.size());
  std::transform(values.begin(), values.end(), signs.begin(),
                 [&](double value) { return static_cast<double>((value > centre) - (value < centre)); });
  return signs;
}

double autocovariance(const std::vector<double>& series, std::size_t lag) {
  double sum = 0;
  for (std::size_t i = lag; i < series.size(); ++i) sum += series[i] * series[i - lag];
  return sum / static_cast<double>(series.size());
}

/// The last lag before correlations stay within noise for several lags (Politis and White 2004, section 3.2).
std::size_t last_significant_lag(const std::vector<double>& series, double variance) {
  const auto n = static_cast<double>(series.size());
  const double noise = 2.0 * std::sqrt(std::log10(n) / n);
  const auto calm = static_cast<std::size_t>(std::max(5.0, std::ceil(std::sqrt(std::log10(n)))));
  const auto largest = std::min(series.size() - 1, static_cast<std::size_t>(std::ceil(std::sqrt(n))) + calm);
  std::size_t last = 0;
  for (std::size_t lag = 1; lag <= largest && lag - last <= calm; ++lag) {
    if (std::abs(autocovariance(series, lag)) > noise * variance) last = lag;
  }
  return last;
}

/// Optimal for a block bootstrap of a mean, with the flat-top window of Politis and White.
double optimal_block_length(const std::vector<double>& series) {
  const double variance = autocovariance(series, 0);
  if (variance <= 0) return 1;
  const std::size_t bandwidth = 2 * std::max<std::size_t>(1, last_significant_lag(series, variance));
  double spectrum = variance;
  double slope = 0;
  for (std::size_t lag = 1; lag <= bandwidth && lag < series.size(); ++lag) {
    const double share = static_cast<double>(lag) / static_cast<double>(bandwidth);
    const double window = share <= 0.5 ? 1.0 : 2.0 * (1.0 - share);
    const double covariance = autocovariance(series, lag);
    spectrum += 2.0 * window * covariance;
    slope += 2.0 * window * static_cast<double>(lag) * covariance;
  }
  if (spectrum <= 0) return 1;
  return std::cbrt(1.5 * slope * slope / (spectrum * spectrum) * static_cast<double>(series.size()));
}

std::size_t resamples_for(std::size_t values) {
  return std::clamp(kDrawnValues / values, kFewestResamples, kMostResamples);
}

std::vector<double> resampled_medians(std::span<const double> values, std::size_t block) {
  std::mt19937_64 generator(kSeed);
  const std::size_t starts = values.size() - block + 1;
  std::vector<double> medians(resamples_for(values.size()));
  std::vector<double> sample(values.size());
  for (double& result : medians) {
    for (std::size_t filled = 0; filled < sample.size(); filled += block) {
      const auto from = values.begin() + static_cast<std::ptrdiff_t>(draw_below(generator, starts));
      const std::size_t length = std::min(block, sample.size() - filled);
      std::copy_n(from, length, sample.begin() + static_cast<std::ptrdiff_t>(filled));
    }
    result = median_in_place(sample);
  }
  return medians;
}

}  // namespace

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
  if (values.empty()) throw Error(ErrorCode::kBadInput, "the median of no values is not defined");
  return median_in_place(values);
}

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

std::size_t bootstrap_block_length(std::span<const double> values) {
  if (values.size() < 4) return 1;
  const auto shortest = static_cast<std::size_t>(std::ceil(std::cbrt(static_cast<double>(values.size()))));
  const std::size_t longest = std::max<std::size_t>(1, values.size() / 4);
  const double optimal = optimal_block_length(signs_about_median(values));
  const auto wanted = static_cast<std::size_t>(std::ceil(std::min(optimal, static_cast<double>(longest))));
  return std::min(std::max(wanted, shortest), longest);
}

Measured<Estimate> median_of_steps(std::span<const double> values, double level) {
  if (values.size() < kFewestSteps) {
    return Measured<Estimate>::missing(
        fmt::format("{} step(s): an interval needs {} or more", values.size(), kFewestSteps));
  }
  const std::size_t block = bootstrap_block_length(values);
  std::vector<double> medians = resampled_medians(values, block);
  std::sort(medians.begin(), medians.end());
  Estimate estimate;
  estimate.value = median({values.begin(), values.end()});
  estimate.interval.level = level;
  // With few steps the estimate itself may lie outside of its resamples' percentiles; an interval holds its
  // estimate.
  estimate.interval.low = std::min(quantile(medians, (1 - level) / 2), estimate.value);
  estimate.interval.high = std::max(quantile(medians, (1 + level) / 2), estimate.value);
  estimate.interval.method = fmt::format("moving-block bootstrap (n={}, block {}, {} resamples)",
                                         values.size(), block, medians.size());
  return estimate;
}

Measured<Estimate> mean_of_runs(std::span<const double> values, double level) {
  if (values.size() < kFewestRuns) {
    return Measured<Estimate>::missing(
        fmt::format("{} run(s): an interval over runs needs {} or more", values.size(), kFewestRuns));
  }
  std::vector<double> logarithms;
  for (const double value : values) logarithms.push_back(std::log(value));
  if (!std::all_of(logarithms.begin(), logarithms.end(), [](double value) { return std::isfinite(value); }))
    return Measured<Estimate>::missing("a run's value is not above 0");
  const RunMoments moments = run_moments(logarithms);
  const boost::math::students_t distribution(moments.count - 1);
  const double factor = std::exp(boost::math::quantile(distribution, (1 + level) / 2) *
                                 std::sqrt(moments.variance / moments.count));
  const double average = std::exp(moments.mean);
  return Estimate{
      average,
      {average / factor, average * factor, level, fmt::format("Student's t over {} runs", values.size())}};
}

}  // namespace ddbench::analyzer
