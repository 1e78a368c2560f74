// Simulated runs in which all ranks compute longer from some step on.
#include "analyzer/diagnose/slow_everywhere.h"

#include <gtest/gtest.h>

#include "../../../support/simulated_work.h"

namespace ddbench::analyzer {
namespace {

using test::simulate;
using test::SimulatedRun;

WorkTable slower_from(std::size_t row, double share, std::size_t left_out, unsigned seed = 3, std::size_t end = 300) {
  SimulatedRun run;
  std::mt19937_64 random(seed);
  WorkTable table = simulate(run, random);
  for (; row < std::min(end, table.step_count()); ++row) {
    for (std::size_t rank = 0; rank < table.rank_count(); ++rank) {
      if (rank == left_out) continue;
      table.work[row * table.rank_count() + rank][OwnPart::kCompute] += share * test::kUsualCompute_ns;
    }
    table.step_ns[row] += share * test::kUsualCompute_ns;
  }
  return table;
}

constexpr std::size_t kNobody = 99;

TEST(SlowEverywhere, TheStepIsFoundFromWhichAllRanksComputeLonger) {
  for (const std::size_t onset : {std::size_t{60}, std::size_t{170}}) {
    const auto found = find_slow_everywhere(slower_from(onset, 0.4, kNobody));
    ASSERT_TRUE(found);
    EXPECT_NEAR(static_cast<double>(found->window.first), static_cast<double>(onset), 6);
    EXPECT_EQ(found->window.end, 300U);
    EXPECT_NEAR(found->excess_ns, 0.4 * test::kUsualCompute_ns, 0.04 * test::kUsualCompute_ns);
    EXPECT_NEAR(found->cost_share, 3.2 / 13.4, 0.03);
    EXPECT_GT(found->slowdown_low, 1.3);
  }
}

TEST(SlowEverywhere, AStretchInTheMiddleHasAnEnd) {
  const auto found = find_slow_everywhere(slower_from(100, 0.5, kNobody, 3, 200));
  ASSERT_TRUE(found);
  EXPECT_NEAR(static_cast<double>(found->window.first), 100, 6);
  EXPECT_NEAR(static_cast<double>(found->window.end), 200, 6);
}

TEST(SlowEverywhere, WhatOneRankIsSparedOrIsSmallOrAtTheBeginIsNot) {
  EXPECT_FALSE(find_slow_everywhere(slower_from(100, 0.4, 1)));
  EXPECT_FALSE(find_slow_everywhere(slower_from(100, 0.08, kNobody)));
  EXPECT_FALSE(find_slow_everywhere(slower_from(0, 0.4, kNobody, 3, 60))) << "a slow begin is warming up";
}

TEST(SlowEverywhere, HealthyRunsHaveNone) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    SimulatedRun run;
    run.noise = seed % 2 == 0 ? 0.1 : 0.03;
    run.coefficient = seed % 3 == 0 ? 0.95 : 0.5;
    EXPECT_FALSE(find_slow_everywhere(simulate(run, random))) << seed;
  }
}

}  // namespace
}  // namespace ddbench::analyzer
