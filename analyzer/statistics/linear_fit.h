#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/statistics/statistics.h"

namespace ddbench::analyzer {

inline constexpr std::size_t kMostCoefficients = 3;
using Coefficients = std::array<double, kMostCoefficients>;

/// Repeated measurements of y at one place.
struct FitPoint {
  Coefficients x{};       ///< one regressor for each coefficient
  std::vector<double> y;  ///< one a run
};

enum class ErrorModel {
  kRelative,  ///< errors are a percentage of the true y (times, rates): y is positive, no coefficient is
              ///< below 0
  kAbsolute,  ///< errors do not grow with y (logarithms): anything goes
};

/// y = sum of x[j] * coefficients[j] by weighted least squares, and the known properties of its errors.
///
/// Relative errors are weighted by the fitted y (iterated). The variance of one measurement comes from the
/// repetitions and from how far the points lie off the curve: from both together if an F test (5%) finds them
/// compatible, else from the latter, which then holds the model's own error too.
struct LinearFit {
  std::size_t parameters = 0;
  Coefficients coefficients{};
  /// The solution if coefficients were allowed below 0: intervals are taken around these values and then cut
  /// off at 0, so that they keep their coverage.
  Coefficients unconstrained{};
  std::array<Coefficients, kMostCoefficients> covariance{};  ///< of `unconstrained`
  double variance = 0;            ///< of one measurement, relative to its y where errors are relative
  double degrees_of_freedom = 0;  ///< of `variance`; 0: not determined, and there are no intervals
  ErrorModel errors = ErrorModel::kRelative;
  std::vector<double>
      residuals;  ///< of each point's mean, relative to the fitted y where errors are relative
  std::vector<std::size_t> badly_fitted;  ///< indices of points; see fit_linear
};

/// Empty when there are fewer points than parameters, or the points do not determine the coefficients. Throws
/// Error{kBadInput} on a point without y, or with one that its error model does not allow.
///
/// A point is badly fitted when it is further from the curve than chance explains (deleted residual against
/// Student's t at 5%, Bonferroni over the points) and by more than 2%, the noise floor of a run; or by more
/// than 10%.
std::optional<LinearFit> fit_linear(std::span<const FitPoint> points, std::size_t parameters,
                                    ErrorModel errors);

/// x . coefficients
double value_at(const LinearFit& fit, const Coefficients& x);

/// The mean curve at x; missing when the error cannot be estimated.
Measured<Estimate> mean_at(const LinearFit& fit, const Coefficients& x, double level = 0.95);

/// (numerator . coefficients) / (denominator . coefficients), with the interval of Fieller (1954). Missing
/// when the denominator may be 0, or the error cannot be estimated.
Measured<Estimate> ratio_of(const LinearFit& fit, const Coefficients& numerator,
                            const Coefficients& denominator, double level = 0.95);

}  // namespace ddbench::analyzer
