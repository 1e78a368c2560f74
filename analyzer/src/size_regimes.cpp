#include "size_regimes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kMostRegimes = 4;
// Differences below this are no reason for a regime, even where measurements repeat better.
constexpr double kFinestRelativeError = 2e-3;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// The best line through the points added so far, none of its coefficients below 0, with errors relative to
/// the measured y: close enough to fit_linear for choosing, and a point more costs a constant.
class RunningLine {
 public:
  void add(double x, double y, double repetitions) {
    const double weight = repetitions / (y * y);
    weights_ += weight;
    x_ += weight * x;
    xx_ += weight * x * x;
    y_ += weight * y;
    xy_ += weight * x * y;
    yy_ += weight * y * y;
  }

  double squares() const {
    const double determinant = weights_ * xx_ - x_ * x_;
    const double intercept = (y_ * xx_ - x_ * xy_) / determinant;
    const double slope = (weights_ * xy_ - x_ * y_) / determinant;
    double explained =
        std::max(y_ * y_ / weights_, xy_ * xy_ / xx_);  // of a line through the origin, or a flat one
    if (determinant > 0 && intercept >= 0 && slope >= 0)
      explained = std::max(explained, intercept * y_ + slope * xy_);
    return std::max(0.0, yy_ - explained);
  }

 private:
  double weights_ = 0, x_ = 0, xx_ = 0, y_ = 0, xy_ = 0, yy_ = 0;
};

struct Cuts {
  double squares = kInfinite;
  std::vector<std::size_t> ends;
};

/// best[m][to]: the points before `to` in m + 1 regimes, by dynamic programming (Bellman and Roth 1969).
std::vector<std::vector<Cuts>> best_cuts(std::span<const FitPoint> points) {
  const std::size_t count = points.size();
  std::vector<std::vector<Cuts>> best(kMostRegimes, std::vector<Cuts>(count + 1));
  for (std::size_t from = 0; from < count; ++from) {
    RunningLine line;
    for (std::size_t to = from + 1; to <= count; ++to) {
      const std::vector<double>& times = points[to - 1].y;
      const auto repetitions = static_cast<double>(times.size());
      line.add(points[to - 1].x[1], std::accumulate(times.begin(), times.end(), 0.0) / repetitions,
               repetitions);
      if (to < from + kFewestSizes) continue;
      const double squares = line.squares();
      if (from == 0) best[0][to] = {squares, {to}};
      for (std::size_t m = 1; m < kMostRegimes; ++m) {
        const double total = best[m - 1][from].squares + squares;
        if (!(total < best[m][to].squares)) continue;
        best[m][to] = {total, best[m - 1][from].ends};
        best[m][to].ends.push_back(to);
      }
    }
  }
  return best;
}

/// Bayesian information criterion. A cut costs three parameters (Liu, Wu and Zidek 1997): its place, and a
/// line's two are not all that is won by choosing it among many.
double criterion(double squares, double measurements, std::size_t points, std::size_t regimes) {
  const auto n = static_cast<double>(points);
  const double variance = std::max(squares / measurements, kFinestRelativeError * kFinestRelativeError);
  const double parameters = 2.0 * static_cast<double>(regimes) + 3.0 * static_cast<double>(regimes - 1);
  return n * std::log(variance) + parameters * std::log(n);
}

}  // namespace

std::vector<std::size_t> find_regimes(std::span<const FitPoint> points) {
  const std::vector<std::vector<Cuts>> best = best_cuts(points);
  std::vector<std::size_t> chosen = {points.size()};
  double measurements = 0;
  for (const FitPoint& point : points) measurements += static_cast<double>(point.y.size());
  double lowest = criterion(best[0][points.size()].squares, measurements, points.size(), 1);
  for (std::size_t m = 1; m < kMostRegimes; ++m) {
    const Cuts& cuts = best[m][points.size()];
    if (!std::isfinite(cuts.squares)) continue;
    const double value = criterion(cuts.squares, measurements, points.size(), m + 1);
    if (value < lowest) {
      lowest = value;
      chosen = cuts.ends;
    }
  }
  return chosen;
}

}  // namespace ddbench::analyzer
