#include "analyzer/statistics/log_ratio.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"

namespace ddbench::analyzer {
namespace {

constexpr double kDegreesOfFreedomOfNormal = 1e6;

}  // namespace

LogRatio::LogRatio(double estimate, std::vector<Component> components, std::string method)
    : estimate_(estimate), error_(with_least_spread(std::move(components))), method_(std::move(method)) {}

std::vector<LogRatio::Component> LogRatio::with_least_spread(std::vector<Component> components) {
  for (Component& component : components) component.scale = std::max(component.scale, kLeastSpread);
  return components;
}

double believed_variance(const RunMoments& moments) {
  return std::max(moments.variance, std::pow(kLeastSpread * moments.mean, 2));
}

double LogRatio::probability_at_most(double bound) const {
  return error_.probability_at_most(bound - estimate_);
}

double LogRatio::quantile(double share) const {
  return estimate_ + error_.quantile(share);
}

LogRatio LogRatio::with_spread(double spread, const std::string& source) const {
  std::vector<Component> widened = error_.components();
  for (Component& component : widened) {
    const double own = component.scale * component.scale;
    const double all = own + spread * spread;
    component.scale = std::sqrt(all);
    component.degrees_of_freedom =
        std::min(component.degrees_of_freedom * (all / own) * (all / own), kDegreesOfFreedomOfNormal);
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
