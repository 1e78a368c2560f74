#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "analyzer/batch/noise_scale.h"
#include "core/error.h"
#include "core/text/quantity.h"

namespace ddbench::analyzer {
namespace {

constexpr int kCurvePoints = 41;
constexpr int kMostCensoredFits = 60;

void require_positive(double value, const char* what) {
  if (std::isfinite(value) && value > 0) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("{} of {} cannot be fitted: it must be a positive number", what, value));
}

Coefficients at_batch(double batch) {
  return {1, 1 / batch, 0};
}

/// Batches that reached the target, by size.
std::map<double, std::vector<double>> by_batch(std::span<const StepsToTarget> batches) {
  std::map<double, std::vector<double>> result;
  for (const StepsToTarget& batch : batches) {
    require_positive(batch.global_batch, "a batch");
    for (const double steps : batch.steps) require_positive(steps, "a number of steps");
    for (const double steps : batch.unreached_after) require_positive(steps, "a number of steps");
    if (batch.steps.empty()) continue;
    auto& all = result[batch.global_batch];
    all.insert(all.end(), batch.steps.begin(), batch.steps.end());
  }
  return result;
}

using StepsByBatch = std::map<double, std::vector<double>>;

StepsByBatch unreached_by_batch(std::span<const StepsToTarget> batches) {
  StepsByBatch unreached;
  for (const StepsToTarget& batch : batches) {
    if (batch.unreached_after.empty()) continue;
    auto& all = unreached[batch.global_batch];
    all.insert(all.end(), batch.unreached_after.begin(), batch.unreached_after.end());
  }
  return unreached;
}

/// Sets variance, degrees of freedom and covariance of a fit to runs of which `unreached` were imputed with its variance. A
/// value that the fit itself supplied neither scatters nor holds as much information as a measured one: it counts by its
/// weight. Lack of fit is not separated from the spread of runs here.
void set_errors(const StepsByBatch& reached, const StepsByBatch& unreached, LinearFit& fit) {
  const double spread = std::sqrt(fit.variance);
  double squares = 0;
  double runs = 0;
  double normal[3] = {0, 0, 0};  // of 1 and 1/batch: the sums of 1, 1/batch, 1/batch^2
  const auto add = [&](double batch, double expected, double steps, double weight) {
    squares += std::pow(steps / expected - 1, 2);
    runs += weight;
    for (int power = 0; power < 3; ++power) normal[power] += weight / (expected * expected * std::pow(batch, power));
  };
  for (const auto& [batch, all] : reached) {
    for (const double steps : all) add(batch, value_at(fit, at_batch(batch)), steps, 1);
  }
  for (const auto& [batch, all] : unreached) {
    const double expected = value_at(fit, at_batch(batch));
    for (const double ended : all) {
      const Imputed run = imputed_above(ended, expected, spread);
      add(batch, expected, run.value, run.weight);
    }
  }
  fit.degrees_of_freedom = runs - 2;
  fit.variance = squares / fit.degrees_of_freedom;
  const double scale = fit.variance / (normal[0] * normal[2] - normal[1] * normal[1]);
  fit.covariance = {{{scale * normal[2], -scale * normal[1], 0}, {-scale * normal[1], scale * normal[0], 0}, {}}};
}

/// Fits the runs that reached the target, then all runs, with the others replaced by their expectation under
/// the last fit, until the curve and its spread converge. `sizes` are the batches of the fit's points.
std::optional<LinearFit> fit_censored(std::span<const StepsToTarget> batches, const StepsByBatch& reached,
                                      std::vector<double>& sizes) {
  const StepsByBatch unreached = unreached_by_batch(batches);
  StepsByBatch all = reached;
  std::optional<LinearFit> fit;
  for (int iteration = 0; iteration < kMostCensoredFits; ++iteration) {
    std::vector<FitPoint> points;
    sizes.clear();
    for (const auto& [batch, steps] : all) {
      points.push_back({at_batch(batch), steps});
      sizes.push_back(batch);
    }
    const std::optional<LinearFit> before = std::exchange(fit, fit_linear(points, 2, ErrorModel::kRelative));
    if (!fit || unreached.empty()) break;
    if (before) fit->variance = before->variance;
    set_errors(reached, before ? unreached : StepsByBatch(), *fit);
    const auto moved = [](double from, double to) { return std::abs(to - from) > 1e-5 * std::abs(to); };
    if (before && !moved(before->coefficients[0], fit->coefficients[0]) &&
        !moved(before->coefficients[1], fit->coefficients[1]) && !moved(before->variance, fit->variance))
      break;
    all = reached;
    const double spread = std::sqrt(fit->variance);
    for (const auto& [batch, ended] : unreached) {
      for (const double steps : ended)
        all[batch].push_back(imputed_above(steps, value_at(*fit, at_batch(batch)), spread).value);
    }
  }
  return fit;
}

Metric metric(const char* name, const char* unit, double value, const Measured<Estimate>& estimate) {
  Metric result{name, unit, value, {}};
  if (estimate) result.interval = estimate->interval;
  return result;
}

void add_notes(std::span<const StepsToTarget> batches, const std::map<double, std::vector<double>>& reached,
               CriticalBatch& result) {
  for (const StepsToTarget& batch : batches) {
    if (batch.unreached_after.empty()) continue;
    result.notes.push_back(fmt::format(
        "batch {}: {} run(s) did not reach the target; they count as longer than the {} steps or more that "
        "they made",
        number(static_cast<double>(batch.global_batch), 1), batch.unreached_after.size(),
        number(*std::min_element(batch.unreached_after.begin(), batch.unreached_after.end()), 1)));
  }
  for (const double batch : result.badly_fitted_batches) {
    result.notes.push_back(fmt::format("batch {} fits badly: the learning rate may not suit it", number(batch, 1)));
  }
  if (!result.batch) {
    result.notes.push_back("no critical batch: " + result.batch.reason());
  } else if (result.batch->value > 2 * reached.rbegin()->first ||
             result.batch->value < reached.begin()->first / 2) {
    result.notes.push_back(
        fmt::format("the critical batch of {} is extrapolated: batches from {} to {} were measured",
                    number(result.batch->value, 4), number(reached.begin()->first, 1), number(reached.rbegin()->first, 1)));
  }
}

Series measured_series(std::span<const StepsToTarget> batches, bool samples) {
  Series series;
  series.name = samples ? "samples, measured" : "steps, measured";
  series.shape = SeriesShape::kPoints;
  for (const auto& [batch, steps] : by_batch(batches)) {
    const double factor = samples ? batch : 1;
    std::vector<double> values;
    for (const double value : steps) values.push_back(value * factor);
    Point point{batch,
                std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()),
                {},
                {}};
    if (const Measured<Estimate> mean = mean_of_runs(values)) point.interval = mean->interval;
    series.points.push_back(std::move(point));
  }
  return series;
}

Series fitted_series(const CriticalBatch& fit, double from, double to, bool samples) {
  Series series;
  series.name = samples ? "samples, fitted" : "steps, fitted";
  for (int i = 0; i < kCurvePoints; ++i) {
    const double batch = from * std::pow(to / from, static_cast<double>(i) / (kCurvePoints - 1));
    const double factor = samples ? batch : 1;
    Point point{batch, value_at(fit.fit, at_batch(batch)) * factor, {}, {}};
    if (const Measured<Estimate> mean = mean_at(fit.fit, at_batch(batch))) {
      point.interval = mean->interval;
      point.interval->low *= factor;
      point.interval->high *= factor;
    }
    series.points.push_back(std::move(point));
  }
  return series;
}

}  // namespace

Measured<CriticalBatch> fit_critical_batch(std::span<const StepsToTarget> batches) {
  const auto reached = by_batch(batches);
  if (reached.size() < 3) {
    return Measured<CriticalBatch>::missing(
        fmt::format("{} batch(es) reached the target: the fit needs 3 or more", reached.size()));
  }
  std::vector<double> sizes;
  const std::optional<LinearFit> fit = fit_censored(batches, reached, sizes);
  if (!fit) return Measured<CriticalBatch>::missing("the batches are too similar to fit a curve");
  CriticalBatch result;
  result.fit = *fit;
  result.fewest_steps = metric("fewest steps", "steps", fit->coefficients[0], mean_at(*fit, {1, 0, 0}));
  result.fewest_samples = metric("fewest samples", "samples", fit->coefficients[1], mean_at(*fit, {0, 1, 0}));
  result.batch = ratio_of(*fit, {0, 1, 0}, {1, 0, 0});
  for (const double residual : fit->residuals) result.rms_error += residual * residual;
  result.rms_error = std::sqrt(result.rms_error / static_cast<double>(sizes.size()));
  for (const std::size_t index : fit->badly_fitted) result.badly_fitted_batches.push_back(sizes[index]);
  add_notes(batches, reached, result);
  return result;
}

Figure critical_batch_figure(std::span<const StepsToTarget> batches, const CriticalBatch& fit) {
  Figure figure;
  figure.title = "Steps and samples to the target over the global batch";
  figure.x = {"global batch", "samples", true};
  figure.y = {"to the target", "1", true};
  figure.notes = fit.notes;
  const auto reached = by_batch(batches);
  for (const bool samples : {false, true}) {
    figure.series.push_back(measured_series(batches, samples));
    if (!reached.empty()) {
      figure.series.push_back(fitted_series(fit, reached.begin()->first, reached.rbegin()->first, samples));
    }
  }
  if (fit.batch) {
    Series critical;
    critical.name = "critical batch";
    critical.shape = SeriesShape::kPoints;
    critical.points.push_back({fit.batch->value, 2 * fit.fewest_steps.value, {}, {}});
    figure.series.push_back(std::move(critical));
    figure.notes.push_back(fmt::format("critical batch {:.3g} samples ({:.3g} to {:.3g})", fit.batch->value,
                                       fit.batch->interval.low, fit.batch->interval.high));
  }
  return figure;
}

}  // namespace ddbench::analyzer
