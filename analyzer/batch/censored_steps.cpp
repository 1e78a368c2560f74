#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <vector>

#include "analyzer/batch/noise_scale.h"
#include "analyzer/statistics/moments.h"

namespace ddbench::analyzer {
namespace {

constexpr int kMostIterations = 200;
constexpr double kConverged = 1e-9;

}  // namespace

Imputed imputed_above(double censored_at, double expected, double spread) {
  if (spread <= 0) return {std::max(censored_at, expected), censored_at > expected ? 1.0 : 0.0};
  const boost::math::normal normal;
  const double z = std::log(censored_at / expected) / spread;
  constexpr double kFar = 8;  // the tail's ratio is z + 1/z there, and its parts underflow further on
  const double hazard = z > kFar ? z + 1 / z
                                 : boost::math::pdf(normal, z) / boost::math::cdf(boost::math::complement(normal, z));
  return {expected * std::exp(spread * hazard), std::clamp(hazard * (hazard - z), 0.0, 1.0)};
}

Measured<double> censored_mean(std::span<const double> values, std::span<const double> censored) {
  if (values.empty()) return Measured<double>::missing("no run reached the target");
  if (censored.empty()) return mean(values);
  if (values.size() < 2) {
    return Measured<double>::missing(
        fmt::format("1 of {} runs reached the target: their mean is not known", censored.size() + 1));
  }
  std::vector<double> logarithms;
  for (const double value : values) logarithms.push_back(std::log(value));
  const double spread = std::sqrt(run_moments(logarithms).variance);
  std::vector<double> all(values.begin(), values.end());
  all.insert(all.end(), censored.begin(), censored.end());
  double typical = std::exp(run_moments(logarithms).mean);
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i >= values.size()) all[i] = imputed_above(censored[i - values.size()], typical, spread).value;
      sum += std::log(all[i]);
    }
    const double before = typical;
    typical = std::exp(sum / static_cast<double>(all.size()));
    if (std::abs(typical / before - 1) < kConverged) break;
  }
  return mean(all);
}

}  // namespace ddbench::analyzer
