#include "harness/launch/machine/pinning.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace ddbench::launch {
namespace {

TEST(Pinning, PhysicalCoresComeBeforeTheirSecondThreads) {
  // Cores 0 and 4 are threads of one physical core, and so on.
  EXPECT_EQ(order_by_physical_core({0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 0, 1, 2, 3}),
            (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  // Neighbours are threads of one physical core.
  EXPECT_EQ(order_by_physical_core({0, 1, 2, 3}, {0, 0, 2, 2}), (std::vector<int>{0, 2, 1, 3}));
  EXPECT_EQ(order_by_physical_core({5, 9}, {5, 9}), (std::vector<int>{5, 9}));
}

TEST(Pinning, EveryAllowedCoreIsOrderedOnce) {
  std::vector<int> ordered = ordered_cores();
  ASSERT_FALSE(ordered.empty());
  std::sort(ordered.begin(), ordered.end());
  EXPECT_EQ(ordered, allowed_cores());
}

TEST(Pinning, AThreadRunsWhereItIsPinned) {
  std::thread([] {
    const int core = allowed_cores().back();
    EXPECT_EQ(pin_to_core(core), std::to_string(core));
    EXPECT_EQ(allowed_cores(), std::vector<int>{core});
    EXPECT_EQ(::sched_getcpu(), core);
    EXPECT_EQ(pin_to_core(-1), "");
    EXPECT_EQ(pin_to_core(8191), "");
    EXPECT_EQ(allowed_cores(), std::vector<int>{core});
  }).join();
}

}  // namespace
}  // namespace ddbench::launch
