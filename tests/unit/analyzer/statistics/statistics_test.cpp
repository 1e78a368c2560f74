#include "analyzer/statistics/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/error.h"

namespace ddbench::analyzer {
namespace {

/// x[t] = phi x[t-1] + noise: its median is 0.
std::vector<double> autoregressive(std::size_t length, double phi, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> noise;
  std::vector<double> values(length);
  double state = noise(generator) / std::sqrt(1 - phi * phi);
  for (double& value : values) {
    value = state;
    state = phi * state + noise(generator);
  }
  return values;
}

double coverage_of_zero(std::size_t length, double phi, unsigned trials) {
  unsigned covered = 0;
  for (unsigned trial = 0; trial < trials; ++trial) {
    const auto estimate = median_of_steps(autoregressive(length, phi, 1000 + trial));
    covered += estimate.value().interval.low <= 0 && estimate.value().interval.high >= 0;
  }
  return static_cast<double>(covered) / trials;
}

TEST(Median, OfSmallKnownLists) {
  EXPECT_DOUBLE_EQ(median({3}), 3);
  EXPECT_DOUBLE_EQ(median({4, 1}), 2.5);
  EXPECT_DOUBLE_EQ(median({9, 1, 5}), 5);
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_THROW(median({}), Error);
}

TEST(MedianOfSteps, NeedsFiveValuesAndSaysSo) {
  const auto estimate = median_of_steps(std::vector<double>{1, 2, 3, 4});
  ASSERT_FALSE(estimate);
  EXPECT_EQ(estimate.reason(), "4 step(s): an interval needs 5 or more");
}

TEST(MedianOfSteps, OfEqualStepsHasNoWidth) {
  const auto estimate = median_of_steps(std::vector<double>(20, 7.0));
  EXPECT_DOUBLE_EQ(estimate.value().value, 7);
  EXPECT_DOUBLE_EQ(estimate.value().interval.low, 7);
  EXPECT_DOUBLE_EQ(estimate.value().interval.high, 7);
  EXPECT_EQ(estimate.value().interval.method, "moving-block bootstrap (n=20, block 3, 2000 resamples)");
}

TEST(MedianOfSteps, GivesTheSameIntervalForTheSameInput) {
  const std::vector<double> values = autoregressive(60, 0.3, 5);
  const Estimate first = median_of_steps(values).value();
  const Estimate second = median_of_steps(values).value();
  EXPECT_EQ(first.interval.low, second.interval.low);
  EXPECT_EQ(first.interval.high, second.interval.high);
  EXPECT_LT(first.interval.low, first.value);
  EXPECT_GT(first.interval.high, first.value);
}

TEST(MedianOfSteps, IsNotMovedByAFewVeryLongSteps) {
  std::vector<double> values = autoregressive(60, 0, 11);
  std::for_each(values.begin(), values.begin() + 3, [](double& value) { value = 1e9; });
  EXPECT_LT(median_of_steps(values).value().interval.high, 2.0);
}

// Bounds leave room for the noise of 100 trials (sd 2.2 to 3 %) and for the known optimism of block
// bootstraps.
TEST(MedianOfSteps, CoversTheTruthOnWhiteNoise) {
  EXPECT_GE(coverage_of_zero(60, 0.0, 100), 0.86);
}

TEST(MedianOfSteps, CoversTheTruthOnAutocorrelatedSteps) {
  EXPECT_GE(coverage_of_zero(120, 0.5, 100), 0.83);
  EXPECT_GE(coverage_of_zero(200, 0.8, 60), 0.80);
}

TEST(BootstrapBlockLength, GrowsWithAutocorrelation) {
  EXPECT_LE(bootstrap_block_length(autoregressive(400, 0.0, 3)), 10u);
  EXPECT_GE(bootstrap_block_length(autoregressive(400, 0.9, 3)), 15u);
  EXPECT_LE(bootstrap_block_length(autoregressive(400, 0.99, 3)), 100u);
  EXPECT_EQ(bootstrap_block_length(std::vector<double>(5, 1.0)), 1u);
}

TEST(MeanOfRuns, MatchesAHandComputedStudentInterval) {
  // Logarithms 1, 2, 3 (s = 1): t(0.975, 2) = 4.302653.
  const Estimate estimate = mean_of_runs(std::vector<double>{std::exp(1), std::exp(2), std::exp(3)}).value();
  const double factor = std::exp(4.302653 / std::sqrt(3));
  EXPECT_NEAR(estimate.value, std::exp(2), 1e-9);
  EXPECT_NEAR(estimate.interval.low, estimate.value / factor, 1e-5);
  EXPECT_NEAR(estimate.interval.high, estimate.value * factor, 1e-3);
  EXPECT_EQ(estimate.interval.method, "Student's t over 3 runs");
}

TEST(MeanOfRuns, NeedsThreePositiveRuns) {
  EXPECT_EQ(mean_of_runs(std::vector<double>{1, 1}).reason(),
            "2 run(s): an interval over runs needs 3 or more");
  EXPECT_EQ(mean_of_runs(std::vector<double>{1, 0, 1}).reason(), "a run's value is not above 0");
}

TEST(MeanOfRuns, CoversTheTruthAtItsLevel) {
  std::mt19937_64 generator(1);
  std::normal_distribution<double> noise;
  int covered = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const std::vector<double> runs = {100 + noise(generator), 100 + noise(generator), 100 + noise(generator)};
    const Estimate estimate = mean_of_runs(runs).value();
    covered += estimate.interval.low <= 100 && estimate.interval.high >= 100;
  }
  EXPECT_NEAR(covered / 2000.0, 0.95, 0.02);
}

}  // namespace
}  // namespace ddbench::analyzer
