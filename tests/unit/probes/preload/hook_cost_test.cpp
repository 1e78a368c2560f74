#include "probes/preload/hook_cost.h"

#include <gtest/gtest.h>

namespace ddbench::inject {
namespace {

TEST(HookCost, OneHookInSixteenStandsForAll) {
  HookCost cost;
  int timed = 0;
  for (int i = 0; i < 160'000; ++i) {
    if (cost.enter() == 0) continue;
    ++timed;
    cost.add(500);
  }
  EXPECT_NEAR(timed, 10'000, 200);  // the distances are drawn, by a generator with a fixed seed
  EXPECT_EQ(cost.take(), std::int64_t{16} * 500 * timed);
  EXPECT_EQ(cost.take(), 0);
}

TEST(HookCost, AHookThatLostItsCoreCountsAsALongOne) {
  HookCost cost;
  while (cost.enter() == 0) {
  }
  cost.add(8'000'000);
  EXPECT_EQ(cost.take(), 16 * 20'000);
}

}  // namespace
}  // namespace ddbench::inject
