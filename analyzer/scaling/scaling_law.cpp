#include "analyzer/scaling/scaling_law.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>

#include "core/error.h"

namespace ddbench::analyzer {
namespace {

double per_throughput(double n, double throughput) {
  return n / throughput;
}
double itself(double, double value) {
  return value;
}

double logarithm(double, double throughput) {
  return std::log(throughput);
}
double exponential(double, double y) {
  return std::exp(y);
}
Coefficients line_in_n(double n) {
  return {1, n, 0};
}
Coefficients line_in_log2_n(double n) {
  return {1, std::log2(n), 0};
}
Coefficients line_in_log_n(double n) {
  return {1, std::log(n), 0};
}
Coefficients contention_and_coherence(double n) {
  return {1, n - 1, n * (n - 1)};
}

void require_positive(double value, const char* what) {
  if (std::isfinite(value) && value > 0) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("a scaling curve has {} {}, but it must be a positive number", what, value));
}

}  // namespace

std::string_view to_string(ScalingModel model) noexcept {
  constexpr std::array<std::string_view, kScalingModelCount> kNames = {"amdahl", "gustafson", "usl",
                                                                       "log-law", "power-law"};
  return kNames[static_cast<std::size_t>(model)];
}

std::string_view formula(ScalingModel model) noexcept {
  constexpr std::array<std::string_view, kScalingModelCount> kFormulas = {
      "X = lambda N / (s N + 1 - s)", "X = lambda (s + (1 - s) N)",
      "X = lambda N / (1 + sigma (N - 1) + kappa N (N - 1))", "X = lambda N / (1 + c log2 N)",
      "X = lambda N^p"};
  return kFormulas[static_cast<std::size_t>(model)];
}

const Linearised& linearised(ScalingModel model) {
  constexpr ErrorModel kRelative = ErrorModel::kRelative;
  static const std::array<Linearised, kScalingModelCount> kForms = {{
      {2, kRelative, per_throughput, per_throughput, line_in_n, {1, 1, 0}},
      {2, kRelative, itself, itself, line_in_n, {1, 1, 0}},
      {3, kRelative, per_throughput, per_throughput, contention_and_coherence, {1, 0, 0}},
      {2, kRelative, per_throughput, per_throughput, line_in_log2_n, {1, 0, 0}},
      {2, ErrorModel::kAbsolute, logarithm, exponential, line_in_log_n, {1, 0, 0}},
  }};
  return kForms[static_cast<std::size_t>(model)];
}

std::vector<ScalingPoint> sorted_curve(std::span<const ScalingPoint> points) {
  std::map<double, ScalingPoint> by_n;
  for (const ScalingPoint& point : points) {
    require_positive(point.n, "a scale of");
    if (point.throughput.empty()) {
      throw Error(ErrorCode::kBadInput, fmt::format("a scaling curve has no throughput at {}", point.n));
    }
    for (const double value : point.throughput) require_positive(value, "a throughput of");
    ScalingPoint& all = by_n[point.n];
    all.n = point.n;
    all.throughput.insert(all.throughput.end(), point.throughput.begin(), point.throughput.end());
  }
  std::vector<ScalingPoint> result;
  for (auto& [n, point] : by_n) result.push_back(std::move(point));
  return result;
}

std::optional<LinearFit> fit_law(const std::vector<ScalingPoint>& points, ScalingModel model) {
  const Linearised& form = linearised(model);
  std::vector<FitPoint> rows;
  for (const ScalingPoint& point : points) {
    FitPoint row{form.x(point.n), {}};
    for (const double value : point.throughput) row.y.push_back(form.y(point.n, value));
    rows.push_back(std::move(row));
  }
  return fit_linear(rows, form.parameters, form.errors);
}

double throughput_at(const LinearFit& fit, ScalingModel model, double n) {
  const Linearised& form = linearised(model);
  return form.throughput(n, value_at(fit, form.x(n)));
}

}  // namespace ddbench::analyzer
