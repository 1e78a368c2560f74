#include "analyzer/statistics/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "analyzer/statistics/log_ratio.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

TEST(Median, OfSmallKnownLists) {
  EXPECT_DOUBLE_EQ(median({3}), 3);
  EXPECT_DOUBLE_EQ(median({4, 1}), 2.5);
  EXPECT_DOUBLE_EQ(median({9, 1, 5}), 5);
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_THROW(median({}), Error);
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

TEST(MeanOfRuns, RunsThatAgreeToTheLastDigitHaveAnInterval) {
  // As imported ones do whose rates were rounded: t(0.975, 2) x 0.05% / sqrt(3).
  const Estimate estimate = mean_of_runs(std::vector<double>{2600, 2600, 2600}).value();
  EXPECT_NEAR(std::log(estimate.interval.high / 2600), 4.302653 * kLeastSpread / std::sqrt(3), 1e-9);
  EXPECT_NEAR(std::log(2600 / estimate.interval.low), 4.302653 * kLeastSpread / std::sqrt(3), 1e-9);
}

TEST(BelievedVariance, HasAFloorThatZeroesDoNotHave) {
  EXPECT_DOUBLE_EQ(believed_variance(run_moments(std::vector<double>{10, 10, 10})), 0.005 * 0.005);
  EXPECT_DOUBLE_EQ(believed_variance(run_moments(std::vector<double>{9, 10, 11})), 1);
  EXPECT_EQ(believed_variance(run_moments(std::vector<double>{0, 0})), 0);
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
