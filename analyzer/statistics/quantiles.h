#pragma once

namespace ddbench::analyzer {

/// Student's t: the value that `share` of the distribution lies below. Throws Error{kBadInput} unless 0 <
/// share < 1 and degrees_of_freedom > 0.
double t_quantile(double share, double degrees_of_freedom);

/// The share of F(numerator_dof, denominator_dof) that lies above `value`.
double f_upper_tail(double value, double numerator_dof, double denominator_dof);

}  // namespace ddbench::analyzer
