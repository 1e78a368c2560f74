#include "analyzer/statistics/linear_fit.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analyzer/statistics/quantiles.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

using Matrix = std::array<Coefficients, kMostCoefficients>;

constexpr int kReweightings = 8;
constexpr double kSingular = 1e-13;  // of a pivot against its diagonal: the regressors are collinear
constexpr double kLackOfFitLevel = 0.05;
constexpr double kBadFitLevel = 0.05;
constexpr double kNoiseFloor = 0.02;
constexpr double kFarOff = 0.10;

struct MeanPoint {
  Coefficients x{};
  double y = 0;
  double repetitions = 0;
};

double dot(const Coefficients& a, const Coefficients& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double quadratic(const Coefficients& a, const Matrix& m, const Coefficients& b) {
  double sum = 0;
  for (std::size_t i = 0; i < kMostCoefficients; ++i) sum += a[i] * dot(m[i], b);
  return sum;
}

/// The inverse of the part of the symmetric `m` that `used` names (bits); zeros elsewhere. Empty when it is
/// singular.
std::optional<Matrix> inverse(const Matrix& m, unsigned used) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < kMostCoefficients; ++i) {
    if ((used >> i) & 1u) kept.push_back(i);
  }
  const auto size = static_cast<Eigen::Index>(kept.size());
  // Scaled to a diagonal of ones, so that regressors of unlike units have comparable pivots.
  Eigen::VectorXd scale(size);
  for (Eigen::Index i = 0; i < size; ++i) {
    const double diagonal = m[kept[i]][kept[i]];
    if (!(diagonal > 0) || !std::isfinite(diagonal)) return std::nullopt;
    scale[i] = 1 / std::sqrt(diagonal);
  }
  const auto scaled = Eigen::MatrixXd::NullaryExpr(
      size, size, [&](Eigen::Index i, Eigen::Index j) { return scale[i] * m[kept[i]][kept[j]] * scale[j]; });
  const Eigen::LDLT<Eigen::MatrixXd> factors(scaled);
  if (factors.info() != Eigen::Success || !(factors.vectorD().minCoeff() > kSingular)) return std::nullopt;
  const Eigen::MatrixXd solved = factors.solve(Eigen::MatrixXd::Identity(size, size));
  Matrix result{};
  for (Eigen::Index i = 0; i < size; ++i) {
    for (Eigen::Index j = 0; j < size; ++j) result[kept[i]][kept[j]] = scale[i] * solved(i, j) * scale[j];
  }
  return result;
}

struct Solution {
  Coefficients coefficients{};
  Matrix inverse_normal{};
  double squares = 0;
};

std::optional<Solution> solve(const std::vector<MeanPoint>& points, const std::vector<double>& weights,
                              unsigned used) {
  Matrix normal{};
  Coefficients right{};
  for (std::size_t p = 0; p < points.size(); ++p) {
    for (std::size_t i = 0; i < kMostCoefficients; ++i) {
      right[i] += weights[p] * points[p].x[i] * points[p].y;
      for (std::size_t j = 0; j < kMostCoefficients; ++j)
        normal[i][j] += weights[p] * points[p].x[i] * points[p].x[j];
    }
  }
  const std::optional<Matrix> inverted = inverse(normal, used);
  if (!inverted) return std::nullopt;
  Solution solution;
  solution.inverse_normal = *inverted;
  for (std::size_t i = 0; i < kMostCoefficients; ++i) solution.coefficients[i] = dot((*inverted)[i], right);
  for (std::size_t p = 0; p < points.size(); ++p) {
    const double off = points[p].y - dot(points[p].x, solution.coefficients);
    solution.squares += weights[p] * off * off;
  }
  return solution;
}

/// The best of all subsets of coefficients with none below 0: with three coefficients, trying all is exact
/// and simple.
std::optional<Solution> solve_not_negative(const std::vector<MeanPoint>& points,
                                           const std::vector<double>& weights, unsigned all) {
  std::optional<Solution> best;
  for (unsigned used = 1; used <= all; ++used) {
    std::optional<Solution> solution = solve(points, weights, used);
    if (!solution || std::any_of(solution->coefficients.begin(), solution->coefficients.end(),
                                 [](double c) { return c < 0; })) {
      continue;
    }
    if (!best || solution->squares < best->squares) best = solution;
  }
  return best;
}

/// The y that a point's relative error is taken of: the fitted one, or the measured one where that makes no
/// sense.
double reference_y(const MeanPoint& point, const Coefficients& coefficients) {
  const double fitted = dot(point.x, coefficients);
  return fitted > 0 ? fitted : point.y;
}

std::vector<double> weights_for(const std::vector<MeanPoint>& points, ErrorModel errors,
                                const Coefficients* coefficients) {
  std::vector<double> weights;
  for (const MeanPoint& point : points) {
    const double y = coefficients == nullptr ? point.y : reference_y(point, *coefficients);
    weights.push_back(errors == ErrorModel::kRelative ? point.repetitions / (y * y) : point.repetitions);
  }
  return weights;
}

template <typename Solve>
std::optional<Solution> solve_reweighted(const std::vector<MeanPoint>& points, ErrorModel errors,
                                         Solve&& solve_once) {
  std::optional<Solution> solution = solve_once(weights_for(points, errors, nullptr));
  for (int i = 0; solution && errors == ErrorModel::kRelative && i < kReweightings; ++i) {
    solution = solve_once(weights_for(points, errors, &solution->coefficients));
  }
  return solution;
}

std::vector<MeanPoint> means_of(std::span<const FitPoint> points, ErrorModel errors) {
  std::vector<MeanPoint> means;
  for (const FitPoint& point : points) {
    if (point.y.empty()) throw Error(ErrorCode::kBadInput, "a point of the curve has no measurement");
    for (const double y : point.y) {
      if (!std::isfinite(y) || (errors == ErrorModel::kRelative && y <= 0)) {
        throw Error(ErrorCode::kBadInput, fmt::format("{} cannot be fitted: measurements must be finite{}", y,
                                                      errors == ErrorModel::kRelative ? " and above 0" : ""));
      }
    }
    const auto n = static_cast<double>(point.y.size());
    means.push_back({point.x, std::accumulate(point.y.begin(), point.y.end(), 0.0) / n, n});
  }
  return means;
}

struct ErrorSums {
  double within = 0;  ///< squares of repetitions about their mean
  double within_dof = 0;
  double lack = 0;  ///< squares of the means about the curve
  double lack_dof = 0;
};

ErrorSums error_sums(std::span<const FitPoint> points, const std::vector<MeanPoint>& means,
                     const std::vector<double>& weights, const LinearFit& fit) {
  ErrorSums sums;
  for (std::size_t p = 0; p < points.size(); ++p) {
    const double per_run = weights[p] / means[p].repetitions;
    for (const double y : points[p].y) sums.within += per_run * (y - means[p].y) * (y - means[p].y);
    sums.within_dof += means[p].repetitions - 1;
    const double off = means[p].y - dot(means[p].x, fit.unconstrained);
    sums.lack += weights[p] * off * off;
  }
  sums.lack_dof = static_cast<double>(points.size() - fit.parameters);
  return sums;
}

void set_variance(const ErrorSums& sums, LinearFit& fit) {
  const bool unlike = sums.within_dof > 0 && sums.lack_dof > 0 &&
                      f_upper_tail(sums.lack / sums.lack_dof / (sums.within / sums.within_dof), sums.lack_dof,
                                   sums.within_dof) < kLackOfFitLevel;
  fit.degrees_of_freedom = unlike ? sums.lack_dof : sums.lack_dof + sums.within_dof;
  if (fit.degrees_of_freedom > 0) {
    fit.variance = (sums.lack + (unlike ? 0 : sums.within)) / fit.degrees_of_freedom;
  }
}

void find_badly_fitted(const std::vector<MeanPoint>& means, const std::vector<double>& weights,
                       const Matrix& inverse_normal, const ErrorSums& sums, LinearFit& fit) {
  const double left_dof = sums.lack_dof - 1 + sums.within_dof;
  for (std::size_t p = 0; p < means.size(); ++p) {
    const double off = std::abs(fit.residuals[p]);
    bool bad = off > kFarOff;
    if (!bad && off > kNoiseFloor && sums.lack_dof > 0 && left_dof > 0) {
      const double freedom = 1 - weights[p] * quadratic(means[p].x, inverse_normal, means[p].x);
      const double distance = means[p].y - dot(means[p].x, fit.unconstrained);
      const double squares = freedom > 0 ? weights[p] * distance * distance / freedom : 0;
      const double left = std::max(0.0, sums.lack - squares + sums.within) / left_dof;
      const double limit = t_quantile(1 - kBadFitLevel / 2 / static_cast<double>(means.size()), left_dof);
      bad = squares > limit * limit * left;
    }
    if (bad) fit.badly_fitted.push_back(p);
  }
}

double t_for(const LinearFit& fit, double level) {
  return t_quantile((1 + level) / 2, fit.degrees_of_freedom);
}

Measured<Estimate> without_errors() {
  return Measured<Estimate>::missing("no degrees of freedom left to estimate the error");
}

Estimate estimate(const LinearFit& fit, double value, double low, double high, double level,
                  const char* method) {
  if (fit.errors == ErrorModel::kRelative) {
    low = std::max(low, 0.0);
    high = std::max(high, 0.0);
  }
  return {value,
          {std::min(low, value), std::max(high, value), level,
           fmt::format("{} ({:.0f} degrees of freedom)", method, fit.degrees_of_freedom)}};
}

}  // namespace

std::optional<LinearFit> fit_linear(std::span<const FitPoint> points, std::size_t parameters,
                                    ErrorModel errors) {
  const std::vector<MeanPoint> means = means_of(points, errors);
  if (parameters == 0 || parameters > kMostCoefficients || points.size() < parameters) return std::nullopt;
  const unsigned all = (1u << parameters) - 1;
  const auto free =
      solve_reweighted(means, errors, [&](const auto& weights) { return solve(means, weights, all); });
  const auto bound =
      errors == ErrorModel::kAbsolute ? free : solve_reweighted(means, errors, [&](const auto& weights) {
        return solve_not_negative(means, weights, all);
      });
  if (!free || !bound) return std::nullopt;

  LinearFit fit;
  fit.parameters = parameters;
  fit.errors = errors;
  fit.coefficients = bound->coefficients;
  fit.unconstrained = free->coefficients;
  const std::vector<double> weights = weights_for(means, errors, &fit.unconstrained);
  const ErrorSums sums = error_sums(points, means, weights, fit);
  set_variance(sums, fit);
  for (std::size_t i = 0; i < kMostCoefficients; ++i) {
    for (std::size_t j = 0; j < kMostCoefficients; ++j) {
      fit.covariance[i][j] = fit.variance * free->inverse_normal[i][j];
    }
  }
  for (const MeanPoint& mean : means) {
    const double off = mean.y - dot(mean.x, fit.coefficients);
    fit.residuals.push_back(errors == ErrorModel::kRelative ? off / reference_y(mean, fit.coefficients)
                                                            : off);
  }
  find_badly_fitted(means, weights, free->inverse_normal, sums, fit);
  return fit;
}

double value_at(const LinearFit& fit, const Coefficients& x) {
  return dot(x, fit.coefficients);
}

Measured<Estimate> mean_at(const LinearFit& fit, const Coefficients& x, double level) {
  if (fit.degrees_of_freedom <= 0) return without_errors();
  const double centre = dot(x, fit.unconstrained);
  const double reach = t_for(fit, level) * std::sqrt(std::max(0.0, quadratic(x, fit.covariance, x)));
  return estimate(fit, value_at(fit, x), centre - reach, centre + reach, level,
                  "weighted least squares, Student's t");
}

Measured<Estimate> ratio_of(const LinearFit& fit, const Coefficients& numerator,
                            const Coefficients& denominator, double level) {
  if (fit.degrees_of_freedom <= 0) return without_errors();
  const double below = dot(denominator, fit.unconstrained);
  const double above = dot(numerator, fit.unconstrained);
  const double t = t_for(fit, level);
  // All ratios r with |above - r below| <= t * its standard error: between the roots of a quadratic.
  const double square = below * below - t * t * quadratic(denominator, fit.covariance, denominator);
  if (!(square > 0) || !(value_at(fit, denominator) > 0)) {
    return Measured<Estimate>::missing("not identifiable: too few or too noisy measurements");
  }
  const double middle = above * below - t * t * quadratic(numerator, fit.covariance, denominator);
  const double constant = above * above - t * t * quadratic(numerator, fit.covariance, numerator);
  const double reach = std::sqrt(std::max(0.0, middle * middle - square * constant));
  return estimate(fit, value_at(fit, numerator) / value_at(fit, denominator), (middle - reach) / square,
                  (middle + reach) / square, level, "weighted least squares, Fieller");
}

}  // namespace ddbench::analyzer
