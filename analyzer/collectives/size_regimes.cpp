#include "analyzer/collectives/size_regimes.h"

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "analyzer/statistics/statistics.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kMostRegimes = 4;
// Differences below this are no reason for a regime, even where measurements repeat better.
constexpr double kFinestRelativeError = 2e-3;
constexpr double kSignificance = 0.01;  // of each further regime
constexpr int kDraws = 399;
constexpr std::uint64_t kSeed = 20261122;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct MeanTime {
  double size = 0;
  double time = 0;
  double repetitions = 1;
};

std::vector<MeanTime> mean_times(std::span<const FitPoint> points) {
  std::vector<MeanTime> means;
  for (const FitPoint& point : points)
    means.push_back({point.x[1], mean(point.y), static_cast<double>(point.y.size())});
  return means;
}

/// The best line through the points added so far, none of its coefficients below 0, with errors relative to
/// the measured y: close enough to fit_linear for choosing, and adding a point takes constant time.
class RunningLine {
 public:
  void add(const MeanTime& point) {
    const double weight = point.repetitions / (point.time * point.time);
    weights_ += weight;
    x_ += weight * point.size;
    xx_ += weight * point.size * point.size;
    y_ += weight * point.time;
    xy_ += weight * point.size * point.time;
    yy_ += weight * point.time * point.time;
  }

  struct Line {
    double intercept = 0;
    double slope = 0;
    double squares = 0;  ///< of the points about it
  };

  Line best() const {
    const double determinant = weights_ * xx_ - x_ * x_;
    const double intercept = (y_ * xx_ - x_ * xy_) / determinant;
    const double slope = (weights_ * xy_ - x_ * y_) / determinant;
    if (determinant > 0 && intercept >= 0 && slope >= 0) return line(intercept, slope);
    const Line flat = line(y_ / weights_, 0);
    const Line through_origin = line(0, xy_ / xx_);
    return flat.squares < through_origin.squares ? flat : through_origin;
  }

 private:
  /// A least squares line explains its coefficients times the products.
  Line line(double intercept, double slope) const {
    return {intercept, slope, std::max(0.0, yy_ - intercept * y_ - slope * xy_)};
  }

  double weights_ = 0, x_ = 0, xx_ = 0, y_ = 0, xy_ = 0, yy_ = 0;
};

struct Cuts {
  double squares = kInfinite;
  std::vector<std::size_t> ends;
};

/// best[m][to]: the points before `to` in m + 1 regimes, by dynamic programming (Bellman and Roth 1969).
std::vector<std::vector<Cuts>> best_cuts(std::span<const MeanTime> points, std::size_t regimes) {
  const std::size_t count = points.size();
  std::vector<std::vector<Cuts>> best(regimes, std::vector<Cuts>(count + 1));
  for (std::size_t from = 0; from < count; ++from) {
    RunningLine line;
    for (std::size_t to = from + 1; to <= count; ++to) {
      line.add(points[to - 1]);
      if (to < from + kFewestSizes) continue;
      const double squares = line.best().squares;
      if (from == 0) best[0][to] = {squares, {to}};
      for (std::size_t m = 1; m < regimes; ++m) {
        const double total = best[m - 1][from].squares + squares;
        if (!(total < best[m][to].squares)) continue;
        best[m][to] = {total, best[m - 1][from].ends};
        best[m][to].ends.push_back(to);
      }
    }
  }
  return best;
}

/// The points' times on the lines of their regimes.
std::vector<MeanTime> fitted(std::span<const MeanTime> points, const std::vector<std::size_t>& ends) {
  std::vector<MeanTime> on_lines(points.begin(), points.end());
  std::size_t from = 0;
  for (const std::size_t to : ends) {
    RunningLine running;
    for (std::size_t i = from; i < to; ++i) running.add(points[i]);
    const RunningLine::Line line = running.best();
    for (std::size_t i = from; i < to; ++i) on_lines[i].time = line.intercept + line.slope * points[i].size;
    from = to;
  }
  return on_lines;
}

/// By which factor one regime more brings the squares down; at least 1.
double gain(const Cuts& fewer, const Cuts& more) {
  return fewer.squares / std::max(more.squares, fewer.squares * 1e-9);
}

/// Whether one regime more than `ends` explains more than chance: points on the lines of `ends` with errors of
/// the measured size gain as much in at most kSignificance of the draws (Besag and Clifford 1991: drawing stops
/// once there are more).
bool beats_chance(std::span<const MeanTime> points, const Cuts& fewer, const Cuts& more) {
  const std::size_t regimes = fewer.ends.size();
  const std::vector<MeanTime> truth = fitted(points, fewer.ends);
  const double freedom = std::max(1.0, static_cast<double>(points.size()) - 2 * static_cast<double>(regimes));
  const double error = std::sqrt(fewer.squares / freedom);
  const double measured = gain(fewer, more);
  std::mt19937_64 generator(kSeed);
  boost::random::normal_distribution<double> normal;  // the same numbers with every standard library
  int as_large = 0;
  std::vector<MeanTime> drawn = truth;
  for (int draw = 0; draw < kDraws; ++draw) {
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      const double relative = error / std::sqrt(drawn[i].repetitions) * normal(generator);
      drawn[i].time = truth[i].time * std::exp(relative);
    }
    const auto cuts = best_cuts(drawn, regimes + 1);
    as_large += gain(cuts[regimes - 1].back(), cuts[regimes].back()) >= measured;
    if (as_large + 1 > kSignificance * (kDraws + 1)) return false;
  }
  return true;
}

}  // namespace

std::vector<std::size_t> find_regimes(std::span<const FitPoint> points) {
  const std::vector<MeanTime> means = mean_times(points);
  double measurements = 0;
  for (const MeanTime& point : means) measurements += point.repetitions;
  const std::vector<std::vector<Cuts>> best = best_cuts(means, kMostRegimes);
  std::size_t chosen = 0;
  for (; chosen + 1 < kMostRegimes; ++chosen) {
    const Cuts& fewer = best[chosen].back();
    const Cuts& more = best[chosen + 1].back();
    const bool exact = fewer.squares <= measurements * kFinestRelativeError * kFinestRelativeError;
    if (exact || !std::isfinite(more.squares) || !beats_chance(means, fewer, more)) break;
  }
  return best[chosen].back().ends;
}

}  // namespace ddbench::analyzer
