#include "harness/training/step/step_clock.h"

#include <gtest/gtest.h>

namespace ddbench::ddp {
namespace {

TEST(ProbeWindows, OfFourMeasuredStepsOneOfTheLastTwoIsOffDrawnFairly) {
  constexpr std::uint32_t kWarmup = 5;
  constexpr std::uint32_t kFours = 4000;
  for (std::uint32_t step = 0; step < kWarmup; ++step) EXPECT_TRUE(is_probed(step, kWarmup));
  int thirds = 0;
  int repeats = 0;
  bool third_before = false;
  for (std::uint32_t four = 0; four < kFours; ++four) {
    const std::uint32_t first = kWarmup + 4 * four;
    EXPECT_TRUE(is_probed(first, kWarmup) && is_probed(first + 1, kWarmup));
    EXPECT_FALSE(is_in_pair(first + 1, kWarmup));
    EXPECT_TRUE(is_in_pair(first + 2, kWarmup) && is_in_pair(first + 3, kWarmup));
    const bool third = !is_probed(first + 2, kWarmup);
    EXPECT_NE(third, !is_probed(first + 3, kWarmup)) << four;
    thirds += third;
    repeats += third == third_before;
    third_before = third;
  }
  // Six standard deviations of a fair coin, and of one that does not remember.
  EXPECT_NEAR(thirds, kFours / 2, 190);
  EXPECT_NEAR(repeats, kFours / 2, 190);
}

}  // namespace
}  // namespace ddbench::ddp
