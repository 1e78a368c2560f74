#include "ddbench/analyzer/log_ratio.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "ddbench/record/error.h"
#include "run_moments.h"

namespace ddbench::analyzer {
namespace {

constexpr double kMostDegreesOfFreedom = 1e6;

double student_cdf(double t, double degrees_of_freedom) {
  return boost::math::cdf(boost::math::students_t(std::min(degrees_of_freedom, kMostDegreesOfFreedom)), t);
}

}  // namespace

LogRatio::LogRatio(double estimate, std::vector<Component> components, std::string method)
    : estimate_(estimate), components_(std::move(components)), method_(std::move(method)) {
  if (components_.empty()) throw Error(ErrorCode::kBadInput, "an estimate without a spread says nothing");
  for (Component& component : components_) component.scale = std::max(component.scale, kLeastSpread);
}

double LogRatio::probability_at_most(double bound) const {
  double sum = 0;
  for (const Component& component : components_) {
    sum +=
        component.weight * student_cdf((bound - estimate_) / component.scale, component.degrees_of_freedom);
  }
  return sum;
}

double LogRatio::quantile(double share) const {
  // Every component is centred on the estimate, so that the mixture's quantile lies among theirs.
  double low = estimate_;
  double high = estimate_;
  for (const Component& component : components_) {
    const boost::math::students_t distribution(std::min(component.degrees_of_freedom, kMostDegreesOfFreedom));
    const double place = estimate_ + component.scale * boost::math::quantile(distribution, share);
    low = std::min(low, place);
    high = std::max(high, place);
  }
  if (components_.size() == 1 || low == high) return share < 0.5 ? low : high;
  std::uintmax_t steps = 100;
  const auto bracket =
      boost::math::tools::toms748_solve([&](double place) { return probability_at_most(place) - share; }, low,
                                        high, boost::math::tools::eps_tolerance<double>(40), steps);
  return (bracket.first + bracket.second) / 2;
}

LogRatio LogRatio::with_spread(double spread, const std::string& source) const {
  std::vector<Component> widened = components_;
  for (Component& component : widened) {
    const double own = component.scale * component.scale;
    const double all = own + spread * spread;
    component.scale = std::sqrt(all);
    component.degrees_of_freedom =
        std::min(component.degrees_of_freedom * (all / own) * (all / own), kMostDegreesOfFreedom);
  }
  return {estimate_, std::move(widened), fmt::format("{}, {}", method_, source)};
}

LogRatio paired_log_ratio(std::span<const double> baseline, std::span<const double> candidate) {
  if (baseline.size() != candidate.size() || baseline.size() < 2) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} and {} runs make no pairs: a paired comparison needs 2 or more",
                            baseline.size(), candidate.size()));
  }
  std::vector<double> differences(baseline.size());
  std::transform(candidate.begin(), candidate.end(), baseline.begin(), differences.begin(), std::minus<>());
  const RunMoments moments = run_moments(differences);
  return {moments.mean,
          {{1, std::sqrt(moments.variance / moments.count), moments.count - 1}},
          fmt::format("paired Student t over {} interleaved pairs", differences.size())};
}

std::vector<bool> holm_rejections(std::span<const double> p_values, double level, std::size_t family) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<bool> rejected(p_values.size(), false);
  std::size_t left = std::max(family, p_values.size());
  for (const std::size_t test : order) {
    if (!(p_values[test] <= level / static_cast<double>(left))) break;
    rejected[test] = true;
    --left;
  }
  return rejected;
}

}  // namespace ddbench::analyzer
