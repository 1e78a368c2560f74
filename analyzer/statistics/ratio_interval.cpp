#include "analyzer/statistics/ratio_interval.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/statistics/log_ratio.h"
#include "analyzer/statistics/quantiles.h"
#include "core/error.h"
#include "core/text/quantity.h"

namespace ddbench::analyzer {
namespace {

struct LogMoments {
  double mean = 0;
  double variance_of_mean = 0;
  double degrees_of_freedom = 0;
};

LogMoments log_moments(std::span<const double> values) {
  LogMoments moments;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) {
    if (!std::isfinite(value) || value <= 0) {
      throw Error(ErrorCode::kBadInput, fmt::format("no ratio of {}: it must be a positive number", value));
    }
    moments.mean += std::log(value) / n;
  }
  for (const double value : values) {
    moments.variance_of_mean += std::pow(std::log(value) - moments.mean, 2) / std::max(1.0, n - 1) / n;
  }
  moments.variance_of_mean = std::max(moments.variance_of_mean, kLeastSpread * kLeastSpread / n);
  moments.degrees_of_freedom = n - 1;
  return moments;
}

}  // namespace

RunRatio ratio_of_runs(std::span<const double> numerator, std::span<const double> denominator, double level) {
  if (numerator.empty() || denominator.empty())
    throw Error(ErrorCode::kBadInput, "no ratio without runs on both sides");
  const LogMoments above = log_moments(numerator);
  const LogMoments below = log_moments(denominator);
  RunRatio ratio;
  ratio.value = std::exp(above.mean - below.mean);
  if (numerator.size() < kFewestRuns || denominator.size() < kFewestRuns) {
    ratio.interval = Measured<ConfidenceInterval>::missing(
        fmt::format("{} and {} run(s): an interval over runs needs {} or more each (--repeat {})",
                    numerator.size(), denominator.size(), kFewestRuns, kFewestRuns));
    return ratio;
  }
  const double variance = above.variance_of_mean + below.variance_of_mean;
  const double freedom = variance * variance /
                         (std::pow(above.variance_of_mean, 2) / above.degrees_of_freedom +
                          std::pow(below.variance_of_mean, 2) / below.degrees_of_freedom);
  const double reach = t_quantile((1 + level) / 2, freedom) * std::sqrt(variance);
  ratio.interval = ConfidenceInterval{
      ratio.value * std::exp(-reach), ratio.value * std::exp(reach), level,
      fmt::format("Welch's t of logarithms over {} and {} runs", numerator.size(), denominator.size())};
  return ratio;
}

void RunSpread::add(std::span<const double> values) {
  if (values.size() < 2) return;
  const LogMoments moments = log_moments(values);
  squares += moments.variance_of_mean * static_cast<double>(values.size()) * moments.degrees_of_freedom;
  degrees_of_freedom += moments.degrees_of_freedom;
}

RunRatio ratio_with_spread(std::span<const double> numerator, std::span<const double> denominator,
                           const RunSpread& spread, const std::string& source, double level) {
  RunRatio ratio = ratio_of_runs(numerator, denominator, level);
  if (spread.degrees_of_freedom < 2) return ratio;
  const double deviation = std::max(std::sqrt(spread.squares / spread.degrees_of_freedom), kLeastSpread);
  const double draws =
      1 / static_cast<double>(numerator.size()) + 1 / static_cast<double>(denominator.size());
  const double reach = t_quantile((1 + level) / 2, spread.degrees_of_freedom) * deviation * std::sqrt(draws);
  ratio.interval =
      ConfidenceInterval{ratio.value * std::exp(-reach), ratio.value * std::exp(reach), level,
                         fmt::format("Student's t, {}% between runs ({})", uncertainty(deviation * 100), source)};
  return ratio;
}

}  // namespace ddbench::analyzer
