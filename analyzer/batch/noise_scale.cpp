#include "analyzer/batch/noise_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/statistics/quantiles.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kFewestSteps = 5;
constexpr double kNoiseScaleLevel = 0.95;

struct Pair {
  double noise = 0;
  double gradient = 0;
};

/// The two unbiased estimators of one step (appendix A.1).
std::vector<Pair> estimators(std::span<const GradientNorms> steps, double small_batch, double big_batch) {
  std::vector<Pair> pairs;
  pairs.reserve(steps.size());
  for (const GradientNorms& step : steps) {
    if (!std::isfinite(step.small_square) || !std::isfinite(step.big_square) || step.small_square < 0 ||
        step.big_square < 0) {
      throw Error(
          ErrorCode::kBadInput,
          fmt::format(
              "step {} of the gradient norms is {} and {}, but squared norms are finite and not negative",
              pairs.size(), step.small_square, step.big_square));
    }
    pairs.push_back(
        {(step.small_square - step.big_square) / (1 / small_batch - 1 / big_batch),
         (big_batch * step.big_square - small_batch * step.small_square) / (big_batch - small_batch)});
  }
  return pairs;
}

using PairsByRun = std::vector<std::vector<Pair>>;

/// Over all steps of all runs.
Pair mean_of(const PairsByRun& runs, std::size_t steps) {
  Pair mean;
  for (const std::vector<Pair>& run : runs) {
    for (const Pair& pair : run) {
      mean.noise += pair.noise / static_cast<double>(steps);
      mean.gradient += pair.gradient / static_cast<double>(steps);
    }
  }
  return mean;
}

struct MeanErrors {
  double noise = 0;
  double both = 0;
  double gradient = 0;
  double degrees_of_freedom = 0;
};

/// Covariance of the mean, from the differences of successive steps of a run (von Neumann 1941): a slow change during
/// training is not an error of the mean over these steps, nor is it that the next run begins where training began.
MeanErrors errors_of_mean(const PairsByRun& runs, std::size_t steps) {
  MeanErrors errors;
  double differences = 0;
  double correlated = 0;  // neighbouring differences share a step
  for (const std::vector<Pair>& run : runs) {
    if (run.size() < 2) continue;
    const auto n = static_cast<double>(run.size());
    differences += n - 1;
    correlated += 3 * n - 4;
    for (std::size_t i = 1; i < run.size(); ++i) {
      const double noise = run[i].noise - run[i - 1].noise;
      const double gradient = run[i].gradient - run[i - 1].gradient;
      errors.noise += noise * noise;
      errors.both += noise * gradient;
      errors.gradient += gradient * gradient;
    }
  }
  if (differences == 0) return errors;
  errors.degrees_of_freedom = 2 * differences * differences / correlated;
  for (double* sum : {&errors.noise, &errors.both, &errors.gradient})
    *sum /= 2 * differences * static_cast<double>(steps);
  return errors;
}

/// All r with |noise - r gradient| <= t * its standard error.
void set_interval(const MeanErrors& errors, NoiseScale& result) {
  const double t = t_quantile((1 + kNoiseScaleLevel) / 2, errors.degrees_of_freedom);
  const double noise = result.noise_trace;
  const double gradient = result.gradient_square;
  const double square = gradient * gradient - t * t * errors.gradient;
  const double middle = noise * gradient - t * t * errors.both;
  const double constant = noise * noise - t * t * errors.noise;
  const double discriminant = middle * middle - square * constant;
  if (gradient > 0 && square > 0) {
    const double reach = std::sqrt(std::max(0.0, discriminant));
    const double value = std::max(0.0, noise / gradient);
    result.samples =
        Estimate{value,
                 {std::min(std::max(0.0, (middle - reach) / square), value),
                  std::max(std::max(0.0, (middle + reach) / square), value), kNoiseScaleLevel,
                  fmt::format("Fieller over {} steps, errors from successive ones", result.steps)}};
    return;
  }
  // The set lies outside the roots: it contains infinity and begins at the positive root.
  if (square < 0 && constant > 0 && discriminant >= 0)
    result.at_least = (middle - std::sqrt(discriminant)) / square;
  if (!(result.at_least > 0)) result.at_least = 0;
  result.samples = Measured<Estimate>::missing(
      result.at_least > 0
          ? fmt::format("the gradient drowns in its noise: at least {:.3g} samples; measure more steps",
                        result.at_least)
          : std::string("gradient signal below noise; measure more steps"));
}

}  // namespace

NoiseScale gradient_noise_scale(std::span<const std::vector<GradientNorms>> runs, double small_batch,
                                double big_batch) {
  if (!(small_batch > 0) || !(small_batch < big_batch) || !std::isfinite(big_batch)) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format(
            "the noise scale compares gradients over {} and {} samples, but the second must be larger "
            "than the first (run on two GPUs or more)",
            small_batch, big_batch));
  }
  PairsByRun pairs;
  NoiseScale result;
  for (const std::vector<GradientNorms>& run : runs) {
    pairs.push_back(estimators(run, small_batch, big_batch));
    result.steps += run.size();
  }
  const Pair mean = mean_of(pairs, result.steps);
  result.gradient_square = mean.gradient;
  result.noise_trace = mean.noise;
  const MeanErrors errors = errors_of_mean(pairs, result.steps);
  if (result.steps < kFewestSteps || !(errors.degrees_of_freedom > 1)) {
    result.samples = Measured<Estimate>::missing(
        fmt::format("{} step(s): the noise scale needs {} or more, one after another", result.steps, kFewestSteps));
    return result;
  }
  set_interval(errors, result);
  return result;
}

}  // namespace ddbench::analyzer
