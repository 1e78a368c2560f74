#include "analyzer/batch/noise_scale.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "coverage.h"

namespace ddbench::analyzer {
namespace {

using test::Coverage;
using test::noisy;

constexpr int kDimensions = 12;

/// Gradients of `ranks` ranks with `batch` samples each around a fixed G of length 1, whose samples scatter
/// with tr(Sigma) = noise.
std::vector<GradientNorms> simulate(int steps, int ranks, double batch, double noise,
                                    std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const double spread = std::sqrt(noise / kDimensions / batch);
  std::vector<GradientNorms> result;
  for (int step = 0; step < steps; ++step) {
    GradientNorms norms;
    std::vector<double> average(kDimensions, 0.0);
    for (int rank = 0; rank < ranks; ++rank) {
      for (int d = 0; d < kDimensions; ++d) {
        const double gradient = spread * normal(random) + (d == 0 ? 1 : 0);
        norms.small_square += gradient * gradient / ranks;
        average[static_cast<std::size_t>(d)] += gradient / ranks;
      }
    }
    for (const double value : average) norms.big_square += value * value;
    result.push_back(norms);
  }
  return result;
}

NoiseScale of_one_run(const std::vector<GradientNorms>& steps, double small_batch, double big_batch) {
  return gradient_noise_scale({&steps, 1}, small_batch, big_batch);
}

/// A training: the gradient falls to a tenth while the noise of its samples has the trace 20. Adds the gradient's square to
/// `gradient_square`, as a mean over steps.
std::vector<GradientNorms> training(int steps, std::mt19937_64& random, double& gradient_square) {
  std::vector<GradientNorms> result;
  for (int step = 0; step < steps; ++step) {
    const double length = 0.1 + 0.9 * std::exp(-step / 15.0);
    // Scaled from a gradient of length 1, whose noise is the larger in proportion.
    GradientNorms norms = simulate(1, 2, 512, 20 / (length * length), random)[0];
    norms.small_square *= length * length;
    norms.big_square *= length * length;
    result.push_back(norms);
    gradient_square += length * length / steps;
  }
  return result;
}

TEST(NoiseScale, EstimatorsAreExactWithoutChance) {
  // |G|^2 = 3, tr = 50: E|G_B|^2 = 3 + 50/B.
  const std::vector<GradientNorms> steps(20, {3 + 50.0 / 32, 3 + 50.0 / 256});
  const NoiseScale scale = of_one_run(steps, 32, 256);
  EXPECT_NEAR(scale.gradient_square, 3, 1e-12);
  EXPECT_NEAR(scale.noise_trace, 50, 1e-10);
  ASSERT_TRUE(scale.samples);
  EXPECT_NEAR(scale.samples->value, 50.0 / 3, 1e-10);
}

TEST(NoiseScale, IntervalsHoldTheTruthAsOftenAsTheySay) {
  std::mt19937_64 random(1);
  Coverage independent;
  for (int i = 0; i < 800; ++i) {
    const NoiseScale scale = of_one_run(simulate(100, 4, 16, 200, random), 16, 64);
    ASSERT_TRUE(scale.samples) << scale.samples.reason();
    independent.add(scale.samples->interval, 200);
  }
  EXPECT_NEAR(independent.share(), 0.95, independent.tolerance());
}

TEST(NoiseScale, WhatChangesWhileTrainingGoesOnIsNoError) {
  std::mt19937_64 random(2);
  Coverage coverage;
  double widest = 0;
  for (int i = 0; i < 400; ++i) {
    double gradient_square = 0;
    const NoiseScale scale = of_one_run(training(100, random, gradient_square), 512, 1024);
    ASSERT_TRUE(scale.samples) << scale.samples.reason();
    coverage.add(scale.samples->interval, 20 / gradient_square);
    widest = std::max(widest, scale.samples->interval.high * gradient_square / 20);
  }
  EXPECT_GE(coverage.share(), 0.95 - coverage.tolerance());
  EXPECT_LT(widest, 3);
}

TEST(NoiseScale, MoreRunsKnowItBetter) {
  std::mt19937_64 random(8);
  double half_width[] = {0, 0};
  Coverage coverage;
  constexpr int kTrials = 100;
  for (int i = 0; i < kTrials; ++i) {
    std::vector<std::vector<GradientNorms>> runs;
    double gradient_square = 0;
    for (int run = 0; run < 9; ++run) runs.push_back(training(40, random, gradient_square));
    const auto half = [](const NoiseScale& scale) {
      return (scale.samples->interval.high - scale.samples->interval.low) / 2 / scale.samples->value / kTrials;
    };
    half_width[0] += half(of_one_run(runs[0], 512, 1024));
    const NoiseScale of_all = gradient_noise_scale(runs, 512, 1024);
    half_width[1] += half(of_all);
    coverage.add(of_all.samples->interval, 20 / (gradient_square / 9));
  }
  EXPECT_NEAR(half_width[0] / half_width[1], 3, 0.5);  // the square root of nine
  EXPECT_GE(coverage.share(), 0.95 - coverage.tolerance());
}

TEST(NoiseScale, AGradientThatDrownsGivesALowerBound) {
  std::mt19937_64 random(3);
  const NoiseScale scale = of_one_run(simulate(20, 2, 4, 5000, random), 4, 8);
  EXPECT_FALSE(scale.samples);
  EXPECT_NE(scale.samples.reason().find("drowns"), std::string::npos);
  EXPECT_LT(scale.at_least, 5000);
}

TEST(NoiseScale, FewStepsAndNonsense) {
  const std::vector<GradientNorms> steps(3, {2, 1});
  EXPECT_FALSE(of_one_run(steps, 1, 2).samples);
  EXPECT_FALSE(of_one_run({}, 1, 2).samples);
  EXPECT_FALSE(gradient_noise_scale({}, 1, 2).samples);
  EXPECT_THROW(of_one_run(steps, 2, 2), Error);
  EXPECT_THROW(of_one_run(steps, 0, 2), Error);
  EXPECT_THROW(of_one_run(std::vector<GradientNorms>{{std::nan(""), 1}}, 1, 2), Error);
  EXPECT_THROW(of_one_run(std::vector<GradientNorms>{{-1, 1}}, 1, 2), Error);
}

std::vector<StepsToTarget> batch_sweep(double fewest_steps, double critical, double spread,
                                       std::mt19937_64& random) {
  std::vector<StepsToTarget> batches;
  for (double batch = 16; batch <= 4096; batch *= 2) {
    StepsToTarget point{batch, {}, {}};
    for (int i = 0; i < 3; ++i)
      point.steps.push_back(noisy(fewest_steps * (1 + critical / batch), spread, random));
    batches.push_back(point);
  }
  return batches;
}

TEST(CriticalBatch, IntervalsHoldTheTruthAsOftenAsTheySay) {
  std::mt19937_64 random(4);
  Coverage batch;
  Coverage steps;
  Coverage samples;
  for (int i = 0; i < 1000; ++i) {
    const auto fit = fit_critical_batch(batch_sweep(500, 256, 0.04, random));
    ASSERT_TRUE(fit);
    ASSERT_TRUE(fit->batch);
    batch.add(fit->batch->interval, 256);
    steps.add(*fit->fewest_steps.interval, 500);
    samples.add(*fit->fewest_samples.interval, 500 * 256);
  }
  EXPECT_NEAR(batch.share(), 0.95, batch.tolerance());
  EXPECT_NEAR(steps.share(), 0.95, steps.tolerance());
  EXPECT_NEAR(samples.share(), 0.95, samples.tolerance());
}

TEST(CriticalBatch, RunsThatMissedAreSaid) {
  std::mt19937_64 random(5);
  auto batches = batch_sweep(500, 256, 0, random);
  batches.back().steps.clear();
  batches.back().unreached_after = {400, 400, 400};  // below what the others make expect: 531
  const auto fit = fit_critical_batch(batches);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->batch->value, 256, 1e-6);
  ASSERT_FALSE(fit->notes.empty());
  EXPECT_NE(fit->notes[0].find("did not reach"), std::string::npos);
}

TEST(CriticalBatch, RunsThatEndedBeforeTheTargetAreNoLuckyOnes) {
  // Small batches need more steps than runs were given: of those that got there only the lucky ones are known.
  std::mt19937_64 random(20261122);
  double censored = 0;
  double dropped = 0;
  constexpr int kSweeps = 60;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    auto batches = batch_sweep(100, 100, 0.15, random);
    for (StepsToTarget& batch : batches) {
      std::vector<double> within;
      for (const double steps : batch.steps) (steps <= 300 ? within : batch.unreached_after).push_back(std::min(steps, 300.0));
      batch.steps = within;
    }
    censored += fit_critical_batch(batches)->batch->value / kSweeps;
    for (StepsToTarget& batch : batches) batch.unreached_after.clear();
    dropped += fit_critical_batch(batches)->batch->value / kSweeps;
  }
  EXPECT_NEAR(censored, 100, 12);
  EXPECT_LT(dropped, censored);
}

TEST(CriticalBatch, IntervalsAllowForRunsThatEndedBeforeTheTarget) {
  std::mt19937_64 random(9);
  for (const double limit : {300.0, 220.0}) {  // of the runs 22% and 39% end before the target
    Coverage batch;
    Coverage steps;
    Coverage samples;
    for (int i = 0; i < 200; ++i) {
      std::vector<StepsToTarget> batches;
      for (double size = 32; size <= 512; size *= 2) {
        StepsToTarget& point = batches.emplace_back(StepsToTarget{size, {}, {}});
        for (int run = 0; run < 5; ++run) {
          const double needed = noisy(100 * (1 + 100 / size), 0.15, random);
          (needed <= limit ? point.steps : point.unreached_after).push_back(std::min(needed, limit));
        }
      }
      const auto fit = fit_critical_batch(batches);
      if (!fit) continue;  // fewer than three batches reached the target
      if (fit->batch) batch.add(fit->batch->interval, 100);
      steps.add(*fit->fewest_steps.interval, 100);
      samples.add(*fit->fewest_samples.interval, 100 * 100);
    }
    EXPECT_NEAR(batch.share(), 0.95, batch.tolerance()) << limit;
    EXPECT_NEAR(steps.share(), 0.95, steps.tolerance()) << limit;
    EXPECT_NEAR(samples.share(), 0.95, samples.tolerance()) << limit;
  }
}

TEST(CriticalBatch, ABatchThatNoRunReachedTheTargetWithDoesNotInflateItsSpread) {
  // Its imputed steps lie off the curve of the others: taken for a lack of fit, that widened the spread that the next
  // ones were imputed with, without end.
  const std::vector<StepsToTarget> batches = {
      {32, {}, std::vector<double>(20, 260)},
      {64, {233, 244, 245, 197, 217, 259, 241, 244, 256, 224}, std::vector<double>(10, 260)},
      {128, {199, 205, 225, 139, 187, 158, 168, 164, 145, 126, 122, 182, 138, 190, 156, 192, 184, 175, 159, 195}, {}},
      {256, {133, 139, 171, 125, 145, 172, 129, 164, 140, 111, 173, 144, 142, 128, 106, 114, 112, 115, 149, 144}, {}},
      {512, {106, 112, 132, 109, 137, 135, 144, 99, 91, 170, 111, 122, 155, 120, 151, 153, 144, 117, 136, 124}, {}}};
  const auto fit = fit_critical_batch(batches);
  ASSERT_TRUE(fit && fit->batch);
  EXPECT_NEAR(fit->batch->value, 100, 40);
}

TEST(CriticalBatch, ACriticalBatchFarOutsideIsSaidToBeExtrapolated) {
  std::mt19937_64 random(6);
  const auto fit = fit_critical_batch(batch_sweep(500, 20000, 0, random));
  ASSERT_TRUE(fit && fit->batch);
  EXPECT_NE(fit->notes.at(0).find("extrapolated"), std::string::npos);
}

TEST(CriticalBatch, TooFewBatchesAndNonsense) {
  EXPECT_FALSE(fit_critical_batch({}));
  EXPECT_FALSE(fit_critical_batch(std::vector<StepsToTarget>{{8, {100}, {}}, {16, {60}, {}}}));
  EXPECT_THROW(fit_critical_batch(std::vector<StepsToTarget>{{0, {100}, {}}}), Error);
  EXPECT_THROW(fit_critical_batch(std::vector<StepsToTarget>{{8, {std::nan("")}, {}}}), Error);
}

TEST(CriticalBatch, TheFigureShowsBothCurves) {
  std::mt19937_64 random(7);
  const auto batches = batch_sweep(500, 256, 0.02, random);
  const auto fit = fit_critical_batch(batches);
  const Figure figure = critical_batch_figure(batches, *fit);
  EXPECT_EQ(figure.series.size(), 5u);
  EXPECT_NE(figure.notes.back().find("critical batch"), std::string::npos);
}

}  // namespace
}  // namespace ddbench::analyzer
