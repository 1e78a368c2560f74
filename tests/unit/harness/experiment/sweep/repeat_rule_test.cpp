#include "harness/experiment/sweep/repeat_rule.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "repeated_runs.h"

namespace ddbench::experiment {
namespace {

TEST(RepeatRule, FourRunsAreNeverEnough) {
  EXPECT_FALSE(end_of_repeats(std::vector<double>{}, 0.5));
  EXPECT_FALSE(end_of_repeats(std::vector{100.0, 100.0, 100.0, 100.0}, 0.5));
}

TEST(RepeatRule, RunsThatAgreeAreEnough) {
  const std::vector<double> times{100, 100.1, 99.9, 100.1, 99.9};
  const auto end = end_of_repeats(times, 0.01);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->reached);
  EXPECT_EQ(end->runs, 5);
  EXPECT_NEAR(end->half_width, 0.00124, 0.00001);  // 2.776 x 0.1% / sqrt(5)
  EXPECT_EQ(to_words(*end, 0.01), "5 runs: half-width between runs 0.12% (goal 1%)");
}

TEST(RepeatRule, RunsThatDifferGoOnToTheMost) {
  std::vector<double> times;
  for (int run = 1; run < kMostRepeats; ++run) {
    times.push_back(run % 2 == 0 ? 100 : 130);
    EXPECT_FALSE(end_of_repeats(times, 0.01)) << run;
  }
  times.push_back(100);
  const auto end = end_of_repeats(times, 0.01);
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->reached);
  EXPECT_EQ(end->runs, kMostRepeats);
  EXPECT_GT(end->half_width, 0.01);
  EXPECT_NE(to_words(*end, 0.01).find("the most of --repeat auto"), std::string::npos);
}

TEST(RepeatRule, ATimeThatIsNoneEndsItAtTheMost) {
  EXPECT_FALSE(end_of_repeats(std::vector{100.0, 0.0, 100.0, 100.0, 100.0}, 0.5));
  const auto end = end_of_repeats(std::vector<double>(kMostRepeats, 0.0), 0.5);
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->reached);
  EXPECT_EQ(to_words(*end, 0.5), "10 runs, the most of --repeat auto: no interval (goal 50%)");
}

TEST(RepeatRule, IntervalsOfRunsThatEndedByThemHoldTheTruth) {
  std::mt19937_64 random(20261128);
  test::RepeatedCases all;
  for (const double scatter : {0.004, 0.008, 0.01, 0.0125, 0.015, 0.02, 0.03}) {
    const test::RepeatedCases cases = test::repeated_cases(1500, scatter, 0.01, random);
    EXPECT_GE(cases.share(), 0.915) << scatter;  // 0.93 at the worst scatter, minus two standard errors
    EXPECT_GE(cases.early_share(), scatter <= 0.01 ? 0.92 : 0) << scatter;
    all.add(cases);
  }
  EXPECT_GE(all.share(), 0.93);
  EXPECT_GE(all.early_share(), 0.88);
}

}  // namespace
}  // namespace ddbench::experiment
