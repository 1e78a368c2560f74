#include "harness/launch/worker/step_windows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "harness/training/step/step_clock.h"

namespace ddbench::launch {
namespace {

struct Sums {
  std::uint64_t steps = 0;
  std::int64_t time_ns = 0;
  std::uint64_t pairs = 0;
  double log_ratio = 0;
};

Sums sums_of(const std::vector<StepWindow>& windows) {
  Sums sums;
  for (const StepWindow& window : windows) {
    sums.steps += window.steps;
    sums.time_ns += window.time_ns;
    sums.pairs += window.pairs;
    sums.log_ratio += window.log_ratio;
  }
  return sums;
}

TEST(StepWindows, ShortStepsShareAWindowAndLongOnesHaveOneEach) {
  StepWindows fast(0);
  for (std::uint32_t step = 0; step < 4000; ++step) fast.add(step, 50'000);
  const std::vector<StepWindow> windows = fast.take();
  EXPECT_EQ(windows.size(), 20u);
  EXPECT_EQ(sums_of(windows).steps, 4000u);
  EXPECT_EQ(sums_of(windows).time_ns, 4000 * 50'000);
  StepWindows slow(0);
  for (std::uint32_t step = 0; step < 8; ++step) slow.add(step, 30'000'000'000);
  EXPECT_EQ(slow.take().size(), 6u);  // of four steps the last two are a pair
}

TEST(StepWindows, WarmUpDoesNotCount) {
  StepWindows windows(5);
  for (std::uint32_t step = 0; step < 6; ++step) windows.add(step, 20'000'000);
  EXPECT_EQ(sums_of(windows.take()).steps, 1u);
}

TEST(StepWindows, PairsHoldWhatTheProbesAdd) {
  constexpr double kCost = 1.02;
  StepWindows windows(3);
  for (std::uint32_t step = 3; step < 403; ++step) {
    const double ns = 5e6 * (ddp::is_probed(step, 3) ? kCost : 1);
    windows.add(step, std::llround(ns));
  }
  const Sums sums = sums_of(windows.take());
  EXPECT_EQ(sums.pairs, 100u);
  EXPECT_NEAR(sums.log_ratio / static_cast<double>(sums.pairs), std::log(kCost), 1e-6);
}

TEST(StepWindows, ThePairWhoseFirstStepIsMissingIsNone) {
  StepWindows windows(0);
  windows.add(7, 20'000'000);
  EXPECT_EQ(sums_of(windows.take()).pairs, 0u);
}

TEST(StepWindows, NothingIsLostWhereNobodyTakesThem) {
  StepWindows windows(0);
  for (std::uint32_t step = 0; step < 4000; ++step) windows.add(step, 20'000'000);
  const Sums first = sums_of(windows.take());
  windows.add(4000, 20'000'000);
  const Sums rest = sums_of(windows.take());
  EXPECT_EQ(first.steps + rest.steps, 4001u);
}

}  // namespace
}  // namespace ddbench::launch
