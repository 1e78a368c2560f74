#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ddbench/analyzer/log_ratio.h"
#include "ddbench/record/error.h"
#include "run_moments.h"

namespace ddbench::analyzer {
namespace {

constexpr int kCoefficients = 25;
constexpr double kCoefficientStep = 0.04;  // 0, 0.04, ..., 0.96
constexpr double kLeastResidual = 1e-5;    // of a log: equal runs must not make the likelihood infinite

/// Two blocks in order of time: values, and how many belong to the first block.
struct Blocks {
  std::vector<double> values;
  std::size_t first = 0;
};

/// Least squares on level and step between the blocks after the AR(1) transformation (Prais and Winsten).
struct Fit {
  double innovation_variance = 0;
  double log_likelihood = 0;  ///< restricted: level and step integrated out
};

Fit fit_blocks(const Blocks& blocks, double coefficient) {
  double ones = 0, ones_step = 0, step = 0, ones_y = 0, step_y = 0, yy = 0;
  for (std::size_t i = 0; i < blocks.values.size(); ++i) {
    const double keep = i == 0 ? std::sqrt(1 - coefficient * coefficient) : 1;
    const double before = i == 0 ? 0 : coefficient;
    const double x = i >= blocks.first ? 1 : 0;
    const double x_before = i > blocks.first ? 1 : 0;
    const double level = keep - before;
    const double jump = keep * x - before * x_before;
    const double y = keep * blocks.values[i] - (i == 0 ? 0 : before * blocks.values[i - 1]);
    ones += level * level;
    ones_step += level * jump;
    step += jump * jump;
    ones_y += level * y;
    step_y += jump * y;
    yy += y * y;
  }
  const double determinant = ones * step - ones_step * ones_step;
  const double level = (ones_y * step - step_y * ones_step) / determinant;
  const double jump = (step_y * ones - ones_y * ones_step) / determinant;
  const double freedom = static_cast<double>(blocks.values.size()) - 2;
  const double residual =
      std::max(yy - level * ones_y - jump * step_y, freedom * kLeastResidual * kLeastResidual);
  Fit fit;
  fit.innovation_variance = residual / freedom;
  fit.log_likelihood = 0.5 * std::log(1 - coefficient * coefficient) - 0.5 * std::log(determinant) -
                       0.5 * freedom * std::log(residual);
  return fit;
}

/// Variance of the difference of the blocks' means for innovations of variance 1.
double variance_of_difference(std::size_t first, std::size_t second, double coefficient) {
  const auto weight = [&](std::size_t i) {
    return i < first ? -1.0 / static_cast<double>(first) : 1.0 / static_cast<double>(second);
  };
  double sum = 0;
  double correlation = 1;
  for (std::size_t lag = 0; lag < first + second; ++lag, correlation *= coefficient) {
    for (std::size_t i = 0; i + lag < first + second; ++i) {
      sum += (lag == 0 ? 1 : 2) * weight(i) * weight(i + lag) * correlation;
    }
  }
  return sum / (1 - coefficient * coefficient);
}

Blocks centred_blocks(std::span<const double> first, std::span<const double> second) {
  Blocks blocks{{first.begin(), first.end()}, first.size()};
  blocks.values.insert(blocks.values.end(), second.begin(), second.end());
  const double centre = run_moments(blocks.values).mean;
  for (double& value : blocks.values) value -= centre;
  return blocks;
}

}  // namespace

LogRatio block_log_ratio(std::span<const double> baseline, std::span<const double> candidate,
                         bool candidate_first) {
  if (baseline.size() < 2 || candidate.size() < 2) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} and {} runs: comparing two blocks of runs needs 2 or more a side",
                            baseline.size(), candidate.size()));
  }
  const RunMoments a = run_moments(baseline);
  const RunMoments b = run_moments(candidate);
  const double share_a = std::max(a.variance / a.count, kLeastSpread * kLeastSpread / 2);
  const double share_b = std::max(b.variance / b.count, kLeastSpread * kLeastSpread / 2);
  const double welch = share_a + share_b;
  const double freedom =
      welch * welch / (share_a * share_a / (a.count - 1) + share_b * share_b / (b.count - 1));

  const Blocks blocks =
      candidate_first ? centred_blocks(candidate, baseline) : centred_blocks(baseline, candidate);
  const std::size_t second = blocks.values.size() - blocks.first;
  std::array<Fit, kCoefficients> fits;
  double best = -INFINITY;
  for (int i = 0; i < kCoefficients; ++i) {
    fits[i] = fit_blocks(blocks, i * kCoefficientStep);
    best = std::max(best, fits[i].log_likelihood);
  }
  const double white = fits[0].innovation_variance * variance_of_difference(blocks.first, second, 0);
  std::vector<LogRatio::Component> components;
  double total = 0;
  double inflation = 0;
  for (int i = 0; i < kCoefficients; ++i) {
    const double weight = std::exp(fits[i].log_likelihood - best);
    const double wider = fits[i].innovation_variance *
                         variance_of_difference(blocks.first, second, i * kCoefficientStep) / white;
    components.push_back({weight, std::sqrt(welch * wider), freedom});
    total += weight;
    inflation += weight * wider;
  }
  for (LogRatio::Component& component : components) component.weight /= total;
  return {b.mean - a.mean, std::move(components),
          fmt::format("Welch t over {} and {} runs, {:.1f} df, variance x{:.1f} for autocorrelation",
                      baseline.size(), candidate.size(), freedom, inflation / total)};
}

}  // namespace ddbench::analyzer
