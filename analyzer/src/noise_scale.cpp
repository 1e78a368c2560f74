#include "ddbench/analyzer/noise_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ddbench/record/error.h"
#include "quantiles.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kFewestBlocks = 5;
constexpr std::size_t kMostBlocks = 32;
constexpr double kLevel = 0.95;

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

Pair mean_of(std::span<const Pair> pairs) {
  Pair mean;
  for (const Pair& pair : pairs) {
    mean.noise += pair.noise / static_cast<double>(pairs.size());
    mean.gradient += pair.gradient / static_cast<double>(pairs.size());
  }
  return mean;
}

/// As long as the correlation of the noisier of the two series asks for.
std::size_t block_length(const std::vector<Pair>& pairs) {
  std::vector<double> noise;
  std::vector<double> gradient;
  for (const Pair& pair : pairs) {
    noise.push_back(pair.noise);
    gradient.push_back(pair.gradient);
  }
  const std::size_t longest = std::max(bootstrap_block_length(noise), bootstrap_block_length(gradient));
  return std::max({longest, pairs.size() / kMostBlocks, std::size_t{1}});
}

/// Covariance of the mean, from means of blocks.
struct MeanErrors {
  double noise = 0;
  double both = 0;
  double gradient = 0;
  double degrees_of_freedom = 0;
};

MeanErrors errors_of_mean(const std::vector<Pair>& pairs, const Pair& mean) {
  const std::size_t blocks =
      std::min(pairs.size(), std::max(kFewestBlocks, pairs.size() / block_length(pairs)));
  MeanErrors errors;
  errors.degrees_of_freedom = static_cast<double>(blocks) - 1;
  const double divisor = static_cast<double>(blocks) * errors.degrees_of_freedom;
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t from = block * pairs.size() / blocks;
    const std::size_t to = (block + 1) * pairs.size() / blocks;
    const Pair part = mean_of({pairs.data() + from, to - from});
    errors.noise += (part.noise - mean.noise) * (part.noise - mean.noise) / divisor;
    errors.both += (part.noise - mean.noise) * (part.gradient - mean.gradient) / divisor;
    errors.gradient += (part.gradient - mean.gradient) * (part.gradient - mean.gradient) / divisor;
  }
  return errors;
}

/// All r with |noise - r gradient| <= t * its standard error.
void set_interval(const MeanErrors& errors, NoiseScale& result) {
  const double t = t_quantile((1 + kLevel) / 2, errors.degrees_of_freedom);
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
                  std::max(std::max(0.0, (middle + reach) / square), value), kLevel,
                  fmt::format("Fieller over {:.0f} blocks of steps", errors.degrees_of_freedom + 1)}};
    return;
  }
  // The set is what lies outside of the roots: it holds infinity, and begins at the positive root.
  if (square < 0 && constant > 0 && discriminant >= 0)
    result.at_least = (middle - std::sqrt(discriminant)) / square;
  if (!(result.at_least > 0)) result.at_least = 0;
  result.samples = Measured<Estimate>::missing(
      result.at_least > 0
          ? fmt::format("the gradient drowns in its noise: at least {:.3g} samples; measure more steps",
                        result.at_least)
          : std::string("the gradient drowns in its noise; measure more steps"));
}

}  // namespace

NoiseScale gradient_noise_scale(std::span<const GradientNorms> steps, double small_batch, double big_batch) {
  if (!(small_batch > 0) || !(small_batch < big_batch) || !std::isfinite(big_batch)) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format(
            "the noise scale compares gradients over {} and {} samples, but the second must be larger "
            "than the first (run on two GPUs or more)",
            small_batch, big_batch));
  }
  const std::vector<Pair> pairs = estimators(steps, small_batch, big_batch);
  NoiseScale result;
  result.steps = pairs.size();
  const Pair mean = mean_of(pairs);
  result.gradient_square = mean.gradient;
  result.noise_trace = mean.noise;
  if (pairs.size() < kFewestBlocks) {
    result.samples = Measured<Estimate>::missing(
        fmt::format("{} step(s): the noise scale needs {} or more", pairs.size(), kFewestBlocks));
    return result;
  }
  set_interval(errors_of_mean(pairs, mean), result);
  return result;
}

}  // namespace ddbench::analyzer
