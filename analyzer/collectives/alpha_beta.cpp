#include "analyzer/collectives/alpha_beta.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "analyzer/collectives/size_regimes.h"
#include "analyzer/statistics/statistics.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

constexpr std::array<std::string_view, 4> kAlgorithmNames = {"unknown", "ring", "halving-doubling", "tree"};

/// What multiplies alpha and S beta.
struct Cost {
  double messages;
  double volume;
};

Cost cost_of(AllReduceAlgorithm algorithm, int ranks) {
  const double n = ranks;
  switch (algorithm) {
    case AllReduceAlgorithm::kRing: return {2 * (n - 1), 2 * (n - 1) / n};
    case AllReduceAlgorithm::kHalvingDoubling: return {2 * std::log2(n), 2 * (n - 1) / n};
    case AllReduceAlgorithm::kTree: return {2 * std::log2(n), 2};
    case AllReduceAlgorithm::kUnknown: break;
  }
  return {1, 1};
}

/// "tree/LL128" is a tree; what is no known word is not known.
AllReduceAlgorithm algorithm_of_group(const std::string& group) {
  const std::string word = group.substr(0, group.find('/'));
  for (std::size_t i = 0; i < kAlgorithmNames.size(); ++i) {
    if (kAlgorithmNames[i] == word) return static_cast<AllReduceAlgorithm>(i);
  }
  return AllReduceAlgorithm::kUnknown;
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
  const Cost cost = cost_of(algorithm_of_group(algorithm), ranks);
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

const AlphaBetaRegime& nearest_regime(const AlphaBetaFit& fit, double bytes) {
  if (fit.regimes.empty()) {
    throw Error(ErrorCode::kBadInput, "no time can be predicted: too few sizes were measured");
  }
  const AlphaBetaRegime* nearest = &fit.regimes.front();
  double shortest = std::numeric_limits<double>::infinity();
  for (const AlphaBetaRegime& regime : fit.regimes) {
    const double distance =
        std::max({0.0, std::log(regime.from_bytes / bytes), std::log(bytes / regime.to_bytes)});
    if (distance < shortest) {
      nearest = &regime;
      shortest = distance;
    }
  }
  return *nearest;
}

std::string series_name(const std::string& algorithm, const char* what) {
  return algorithm.empty() ? what : fmt::format("{}, {}", algorithm, what);
}

Series measured_series(const std::string& algorithm, const std::map<double, std::vector<double>>& times) {
  Series series;
  series.name = series_name(algorithm, "measured");
  series.shape = SeriesShape::kPoints;
  for (const auto& [bytes, time_ns] : times) {
    Point point{bytes, mean(time_ns) / 1e3, {}, {}};
    if (const Measured<Estimate> estimate = mean_of_runs(time_ns)) {
      point.interval = estimate->interval;
      point.interval->low /= 1e3;
      point.interval->high /= 1e3;
    }
    series.points.push_back(std::move(point));
  }
  return series;
}

Series fitted_series(const AlphaBetaFit& fit, const AlphaBetaRegime& regime) {
  constexpr int kPoints = 17;
  Series series;
  series.name =
      series_name(fit.algorithm, "") + fmt::format("fit {:.3g} us + {:.3g} GB/s", regime.latency_ns / 1e3,
                                                   regime.ns_per_byte > 0 ? 1 / regime.ns_per_byte : 0);
  for (int i = 0; i < kPoints; ++i) {
    const double share = static_cast<double>(i) / (kPoints - 1);
    const double bytes = regime.from_bytes * std::pow(regime.to_bytes / regime.from_bytes, share);
    series.points.push_back({bytes, (regime.latency_ns + bytes * regime.ns_per_byte) / 1e3, {}, {}});
  }
  return series;
}

}  // namespace

std::string_view to_string(AllReduceAlgorithm algorithm) noexcept {
  return kAlgorithmNames[static_cast<std::size_t>(algorithm)];
}

double all_reduce_time_ns(AllReduceAlgorithm algorithm, int ranks, double bytes, double alpha_ns,
                          double beta_ns_per_byte) {
  const Cost cost = cost_of(algorithm, ranks);
  return cost.messages * alpha_ns + cost.volume * bytes * beta_ns_per_byte;
}

std::vector<AlphaBetaFit> fit_alpha_beta(std::span<const TimedSize> points, int ranks) {
  if (ranks < 2) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("collectives on {} rank(s) say nothing about links", ranks));
  }
  std::vector<AlphaBetaFit> fits;
  for (const auto& [algorithm, times] : grouped(points)) fits.push_back(fit_group(algorithm, times, ranks));
  return fits;
}

TimePrediction predict_time(const AlphaBetaFit& fit, double bytes) {
  const AlphaBetaRegime& regime = nearest_regime(fit, bytes);
  return {regime.latency_ns + bytes * regime.ns_per_byte,
          bytes > 2 * fit.regimes.back().to_bytes || bytes < fit.regimes.front().from_bytes / 2};
}

Figure alpha_beta_figure(std::span<const TimedSize> points, const std::vector<AlphaBetaFit>& fits) {
  Figure figure;
  figure.title = "Collective time over size";
  figure.x = {"size", "bytes", true};
  figure.y = {"time", "us", true};
  const auto groups = grouped(points);
  for (const auto& [algorithm, times] : groups) figure.series.push_back(measured_series(algorithm, times));
  for (const AlphaBetaFit& fit : fits) {
    for (const AlphaBetaRegime& regime : fit.regimes) figure.series.push_back(fitted_series(fit, regime));
    figure.notes.insert(figure.notes.end(), fit.notes.begin(), fit.notes.end());
  }
  return figure;
}

}  // namespace ddbench::analyzer
