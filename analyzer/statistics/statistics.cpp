#include "analyzer/statistics/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>

#include "analyzer/statistics/log_ratio.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

/// Reorders the values.
double median_in_place(std::span<double> values) {
  const std::size_t middle = values.size() / 2;
  const auto upper = values.begin() + static_cast<std::ptrdiff_t>(middle);
  std::nth_element(values.begin(), upper, values.end());
  if (values.size() % 2 == 1) return *upper;
  const double lower = *std::max_element(values.begin(), upper);
  return lower + (*upper - lower) / 2;
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
  const double variance = std::max(moments.variance, kLeastSpread * kLeastSpread);
  const double factor =
      std::exp(boost::math::quantile(distribution, (1 + level) / 2) * std::sqrt(variance / moments.count));
  const double average = std::exp(moments.mean);
  return Estimate{
      average,
      {average / factor, average * factor, level, fmt::format("Student's t over {} runs", values.size())}};
}

}  // namespace ddbench::analyzer
