#include "harness/experiment/sweep/repeat_rule.h"

#include <gtest/gtest.h>

#include <vector>

namespace ddbench::experiment {
namespace {

TEST(RepeatRule, TwoRunsAreNeverEnough) {
  EXPECT_FALSE(end_of_repeats(std::vector<double>{}, 0.5));
  EXPECT_FALSE(end_of_repeats(std::vector{100.0, 100.0}, 0.5));
}

TEST(RepeatRule, RunsThatAgreeAreEnough) {
  const std::vector<double> times{100, 100.1, 99.9};
  const auto end = end_of_repeats(times, 0.01);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->reached);
  EXPECT_EQ(end->runs, 3);
  EXPECT_NEAR(end->half_width, 0.0025, 0.0002);  // 4.303 x 0.1 / sqrt(3)
  EXPECT_EQ(to_words(*end, 0.01), "3 runs: half-width between runs 0.25% (goal 1%)");
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
  EXPECT_FALSE(end_of_repeats(std::vector{100.0, 0.0, 100.0}, 0.5));
  EXPECT_FALSE(end_of_repeats(std::vector<double>(kMostRepeats, 0.0), 0.5)->reached);
}

}  // namespace
}  // namespace ddbench::experiment
