#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/scaling/scaling_law.h"

namespace ddbench::analyzer {
namespace {

Measured<Estimate> interval_at(const LinearFit& fit, ScalingModel model, double n, const Coefficients& x) {
  const Linearised& form = linearised(model);
  Measured<Estimate> y = mean_at(fit, x);
  if (!y) return y;
  Estimate result = *y;
  result.value = form.throughput(n, y->value);
  const double one = form.throughput(n, y->interval.low);
  const double other = form.throughput(n, y->interval.high);
  result.interval.low = std::min(one, other);
  result.interval.high = std::max(one, other);
  if (!std::isfinite(result.interval.high)) {
    return Measured<Estimate>::missing("the curve is not bounded there: too few or too noisy points");
  }
  return result;
}

void add_parameter(ScalingFit& result, const char* name, const char* unit, double value,
                   const Measured<Estimate>& interval) {
  Metric metric{name, unit, value, {}};
  if (interval) metric.interval = interval->interval;
  result.parameters.push_back(std::move(metric));
}

void add_ratio(ScalingFit& result, const char* name, const Coefficients& numerator,
               const Coefficients& denominator) {
  const double below = value_at(result.fit, denominator);
  const double value = below > 0 ? value_at(result.fit, numerator) / below : 0;
  add_parameter(result, name, "1", value, ratio_of(result.fit, numerator, denominator));
}

void add_parameters(ScalingFit& result) {
  const LinearFit& fit = result.fit;
  const Coefficients& one = linearised(result.model).one;
  add_parameter(result, "lambda", "samples/s", throughput_at(fit, result.model, 1),
                interval_at(fit, result.model, 1, one));
  switch (result.model) {
    case ScalingModel::kAmdahl: add_ratio(result, "serial fraction", {0, 1, 0}, one); break;
    case ScalingModel::kGustafson: add_ratio(result, "serial fraction", {1, 0, 0}, one); break;
    case ScalingModel::kUsl: {
      add_ratio(result, "sigma", {0, 1, 0}, one);
      add_ratio(result, "kappa", {0, 0, 1}, one);
      const double sigma = result.parameters[1].value;
      const double kappa = result.parameters[2].value;
      if (kappa > 0 && sigma < 1)
        add_parameter(result, "peak at", "GPUs", std::sqrt((1 - sigma) / kappa),
                      Measured<Estimate>::missing("derived"));
      break;
    }
    case ScalingModel::kLogLaw: add_ratio(result, "c", {0, 1, 0}, one); break;
    case ScalingModel::kPowerLaw:
      add_parameter(result, "exponent", "1", fit.coefficients[1], mean_at(fit, {0, 1, 0}));
      break;
  }
}

}  // namespace

Measured<ScalingFit> fit_scaling(std::span<const ScalingPoint> points, ScalingModel model) {
  const std::vector<ScalingPoint> curve = sorted_curve(points);
  const std::optional<LinearFit> fit = fit_law(curve, model);
  if (!fit || !std::isfinite(throughput_at(*fit, model, 1)) || throughput_at(*fit, model, 1) <= 0) {
    return Measured<ScalingFit>::missing(
        fmt::format("{} needs {} or more scales to determine its parameters; there are {}", to_string(model),
                    linearised(model).parameters, curve.size()));
  }
  ScalingFit result;
  result.model = model;
  result.fit = *fit;
  result.smallest_n = curve.front().n;
  result.largest_n = curve.back().n;
  add_parameters(result);
  double squares = 0;
  for (const double residual : fit->residuals) squares += residual * residual;
  result.rms_error = std::sqrt(squares / static_cast<double>(curve.size()));
  return result;
}

Prediction predict(const ScalingFit& fit, double n) {
  Prediction prediction;
  prediction.n = n;
  prediction.extrapolated = n > 2 * fit.largest_n || n < fit.smallest_n / 2;
  prediction.throughput = throughput_at(fit.fit, fit.model, n);
  prediction.interval = interval_at(fit.fit, fit.model, n, linearised(fit.model).x(n));
  return prediction;
}

}  // namespace ddbench::analyzer
