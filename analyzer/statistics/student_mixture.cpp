#include "analyzer/statistics/student_mixture.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cstdint>

#include "core/error.h"

namespace ddbench::analyzer {
namespace {

constexpr double kMostDegreesOfFreedom = 1e6;  // beyond, Boost's series lose digits and t is normal

boost::math::students_t distribution_of(const StudentMixture::Component& component) {
  return boost::math::students_t(std::min(component.degrees_of_freedom, kMostDegreesOfFreedom));
}

}  // namespace

StudentMixture::StudentMixture(std::vector<Component> components) : components_(std::move(components)) {
  if (components_.empty()) throw Error(ErrorCode::kBadInput, "an estimate without a spread says nothing");
}

double StudentMixture::probability_at_most(double bound) const {
  double sum = 0;
  for (const Component& component : components_)
    sum += component.weight * boost::math::cdf(distribution_of(component), bound / component.scale);
  return sum;
}

double StudentMixture::quantile(double share) const {
  // The mixture's quantile lies among those of its components.
  double low = 0;
  double high = 0;
  for (const Component& component : components_) {
    const double place = component.scale * boost::math::quantile(distribution_of(component), share);
    low = std::min(low, place);
    high = std::max(high, place);
  }
  if (components_.size() == 1 || low == high) return share < 0.5 ? low : high;
  const auto excess = [&](double place) { return probability_at_most(place) - share; };
  // Components of one scale make an end of the bracket the root itself, and rounding then puts it outside.
  const double excess_low = excess(low);
  const double excess_high = excess(high);
  if (excess_low >= 0) return low;
  if (excess_high <= 0) return high;
  std::uintmax_t steps = 100;
  const auto bracket = boost::math::tools::toms748_solve(
      excess, low, high, excess_low, excess_high, boost::math::tools::eps_tolerance<double>(40), steps);
  return (bracket.first + bracket.second) / 2;
}

}  // namespace ddbench::analyzer
