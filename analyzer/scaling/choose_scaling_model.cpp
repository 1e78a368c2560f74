#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/scaling/scaling_law.h"

namespace ddbench::analyzer {
namespace {

constexpr double kCloseErrors = 1.5;
constexpr double kEqualErrors = 1e-9;  // what rounding makes of two laws that are the same curve

double mean_log(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return sum / static_cast<double>(values.size());
}

Measured<double> cross_validate(const std::vector<ScalingPoint>& points, ScalingModel model) {
  if (points.size() <= linearised(model).parameters) {
    return Measured<double>::missing(
        fmt::format("needs {} or more scales", linearised(model).parameters + 1));
  }
  double squares = 0;
  for (std::size_t left_out = 0; left_out < points.size(); ++left_out) {
    std::vector<ScalingPoint> others = points;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
    const std::optional<LinearFit> fit = fit_law(others, model);
    const double predicted = fit ? throughput_at(*fit, model, points[left_out].n) : 0;
    if (!(predicted > 0) || !std::isfinite(predicted)) {
      return Measured<double>::missing(
          fmt::format("gives nothing at {} GPUs when that is left out", points[left_out].n));
    }
    const double off = std::log(predicted) - mean_log(points[left_out].throughput);
    squares += off * off;
  }
  return std::sqrt(squares / static_cast<double>(points.size()));
}

bool better(const ModelCandidate& a, const ModelCandidate& b) {
  if (!a.cross_validation_error || !b.cross_validation_error) {
    return static_cast<bool>(a.cross_validation_error) > static_cast<bool>(b.cross_validation_error);
  }
  const double error_a = std::round(*a.cross_validation_error / kEqualErrors);
  const double error_b = std::round(*b.cross_validation_error / kEqualErrors);
  return std::pair(error_a, linearised(a.model).parameters) <
         std::pair(error_b, linearised(b.model).parameters);
}

void add_notes(ModelChoice& choice, std::size_t scales) {
  for (const double n : choice.badly_fitted_n) {
    choice.notes.push_back(fmt::format("{} GPUs fit badly: {} does not describe them within their noise", n,
                                       to_string(choice.best.model)));
  }
  if (scales < 5) {
    choice.notes.push_back(fmt::format("only {} scales: which law holds is a weak guess", scales));
  }
  if (choice.best.fit.degrees_of_freedom < 3) {
    choice.notes.push_back(
        fmt::format("{:.0f} degrees of freedom: repeat the runs (--repeat) for narrower intervals",
                    choice.best.fit.degrees_of_freedom));
  }
}

}  // namespace

Measured<ModelChoice> choose_scaling_model(std::span<const ScalingPoint> points, bool weak) {
  const std::vector<ScalingPoint> curve = sorted_curve(points);
  if (curve.size() < 3) {
    return Measured<ModelChoice>::missing(fmt::format(
        "a law is chosen by leaving scales out, which needs 3 or more of them; there are {}", curve.size()));
  }
  ModelChoice choice;
  for (int model = 0; model < kScalingModelCount; ++model) {
    const auto law = static_cast<ScalingModel>(model);
    if (weak && (law == ScalingModel::kAmdahl || law == ScalingModel::kGustafson)) continue;
    choice.candidates.push_back({law, cross_validate(curve, law)});
  }
  std::stable_sort(choice.candidates.begin(), choice.candidates.end(), better);
  const ModelCandidate& first = choice.candidates.front();
  if (!first.cross_validation_error) {
    return Measured<ModelChoice>::missing("no law describes the curve: " +
                                          first.cross_validation_error.reason());
  }
  const Measured<ScalingFit> best = fit_scaling(curve, first.model);
  if (!best) return Measured<ModelChoice>::missing(best.reason());
  choice.best = *best;
  for (std::size_t i = 1; i < choice.candidates.size(); ++i) {
    const ModelCandidate& other = choice.candidates[i];
    if (!other.cross_validation_error ||
        *other.cross_validation_error > kCloseErrors * *first.cross_validation_error)
      continue;
    if (const Measured<ScalingFit> fit = fit_scaling(curve, other.model)) choice.close.push_back(*fit);
  }
  for (const std::size_t index : choice.best.fit.badly_fitted)
    choice.badly_fitted_n.push_back(curve[index].n);
  add_notes(choice, curve.size());
  return choice;
}

}  // namespace ddbench::analyzer
