#include "analyzer/collectives/alpha_beta.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyzer/collectives/size_regimes.h"
#include "analyzer/statistics/statistics.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

/// What multiplies alpha and S beta.
struct Cost {
  double messages;
  double volume;
};

/// By the formulas of AlphaBetaRegime; "tree/LL128" is a tree.
Cost cost_of(const std::string& group, int ranks) {
  const std::string algorithm = group.substr(0, group.find('/'));
  const double n = ranks;
  if (algorithm == "ring") return {2 * (n - 1), 2 * (n - 1) / n};
  if (algorithm == "halving-doubling") return {2 * std::log2(n), 2 * (n - 1) / n};
  if (algorithm == "tree") return {2 * std::log2(n), 2};
  return {1, 1};
}

std::map<std::string, std::map<double, std::vector<double>>> grouped(std::span<const TimedSize> points) {
  std::map<std::string, std::map<double, std::vector<double>>> groups;
  for (const TimedSize& point : points) {
    bool sound = std::isfinite(point.bytes) && point.bytes > 0 && !point.time_ns.empty();
    for (const double time : point.time_ns) sound &= std::isfinite(time) && time > 0;
    if (!sound) {
      throw Error(
          ErrorCode::kBadInput,
          fmt::format(
              "the times of a collective of {} bytes cannot be fitted: sizes and times must be positive "
              "numbers, and each size needs a time",
              point.bytes));
    }
    std::vector<double>& times = groups[point.algorithm][point.bytes];
    times.insert(times.end(), point.time_ns.begin(), point.time_ns.end());
  }
  return groups;
}

/// 1 - squares about the line / squares about the weighted mean, relative errors.
double weighted_r_squared(std::span<const FitPoint> points, const LinearFit& fit) {
  double weights = 0;
  double sum = 0;
  for (const FitPoint& point : points) {
    const double y = mean(point.y);
    const double weight = static_cast<double>(point.y.size()) / (y * y);
    weights += weight;
    sum += weight * y;
  }
  double about_line = 0;
  double about_mean = 0;
  for (const FitPoint& point : points) {
    const double y = mean(point.y);
    const double weight = static_cast<double>(point.y.size()) / (y * y);
    about_line += weight * std::pow(y - value_at(fit, point.x), 2);
    about_mean += weight * std::pow(y - sum / weights, 2);
  }
  return about_mean > 0 ? std::max(0.0, 1 - about_line / about_mean) : 1;
}

AlphaBetaRegime regime_of(std::span<const FitPoint> points, const Cost& cost) {
  AlphaBetaRegime regime;
  regime.from_bytes = points.front().x[1];
  regime.to_bytes = points.back().x[1];
  regime.sizes = points.size();
  const std::optional<LinearFit> fit = fit_linear(points, 2, ErrorModel::kRelative);
  if (!fit) return regime;
  regime.latency_ns = fit->coefficients[0];
  regime.ns_per_byte = fit->coefficients[1];
  regime.latency = mean_at(*fit, {1, 0, 0});
  regime.per_byte = mean_at(*fit, {0, 1, 0});
  regime.alpha_ns = regime.latency_ns / cost.messages;
  regime.beta_ns_per_byte = regime.ns_per_byte / cost.volume;
  regime.r_squared = weighted_r_squared(points, *fit);
  for (const double residual : fit->residuals) regime.rms_error += residual * residual;
  regime.rms_error = std::sqrt(regime.rms_error / static_cast<double>(points.size()));
  for (const std::size_t index : fit->badly_fitted) regime.badly_fitted_bytes.push_back(points[index].x[1]);
  return regime;
}

AlphaBetaFit fit_group(const std::string& algorithm, const std::map<double, std::vector<double>>& times,
                       int ranks) {
  AlphaBetaFit result;
  result.algorithm = algorithm;
  result.ranks = ranks;
  std::vector<FitPoint> points;
  for (const auto& [bytes, time_ns] : times) points.push_back({{1, bytes, 0}, time_ns});
  if (points.size() < kFewestSizes) {
    result.notes.push_back(
        fmt::format("{} size(s): latency and bandwidth need {} or more", points.size(), kFewestSizes));
    return result;
  }
  const Cost cost = cost_of(algorithm, ranks);
  std::size_t from = 0;
  for (const std::size_t to : find_regimes(points)) {
    result.regimes.push_back(regime_of(std::span(points).subspan(from, to - from), cost));
    for (const double bytes : result.regimes.back().badly_fitted_bytes) {
      result.notes.push_back(fmt::format("{:.0f} bytes fit badly", bytes));
    }
    from = to;
  }
  return result;
}

}  // namespace

std::vector<AlphaBetaFit> fit_alpha_beta(std::span<const TimedSize> points, int ranks) {
  if (ranks < 2) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("collectives on {} rank(s) say nothing about links", ranks));
  }
  std::vector<AlphaBetaFit> fits;
  for (const auto& [algorithm, times] : grouped(points)) fits.push_back(fit_group(algorithm, times, ranks));
  return fits;
}

}  // namespace ddbench::analyzer
