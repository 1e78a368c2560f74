#include "analyzer/statistics/quantiles.h"

#include <fmt/format.h>

#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "core/error.h"

namespace ddbench::analyzer {

double t_quantile(double share, double degrees_of_freedom) {
  if (!(share > 0 && share < 1) || !(degrees_of_freedom > 0)) {
    throw Error(ErrorCode::kBadInput, fmt::format("no quantile {} of Student's t with {} degrees of freedom",
                                                  share, degrees_of_freedom));
  }
  return boost::math::quantile(boost::math::students_t(degrees_of_freedom), share);
}

double f_upper_tail(double value, double numerator_dof, double denominator_dof) {
  if (!(value > 0)) return 1;
  if (std::isinf(value)) return 0;
  return boost::math::cdf(
      boost::math::complement(boost::math::fisher_f(numerator_dof, denominator_dof), value));
}

}  // namespace ddbench::analyzer
