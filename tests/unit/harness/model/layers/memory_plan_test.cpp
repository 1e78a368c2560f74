#include "harness/model/layers/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ddbench::workload {
namespace {

TEST(MemoryPlan, PiecesThatLiveTogetherDoNotOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> pieces;
    for (int i = 0; i < 60; ++i) {
      const int first = static_cast<int>(random() % 40);
      pieces.push_back(
          {static_cast<std::int64_t>(random() % 5000), first, first + static_cast<int>(random() % 12)});
    }
    const MemoryPlan plan = plan_memory(pieces);
    for (std::size_t a = 0; a < pieces.size(); ++a) {
      EXPECT_EQ(plan.offsets[a] % 64, 0);
      EXPECT_LE(plan.offsets[a] + pieces[a].bytes, plan.bytes);
      for (std::size_t b = 0; b < a; ++b) {
        const bool together = pieces[a].first <= pieces[b].last && pieces[b].first <= pieces[a].last;
        const bool overlap = plan.offsets[a] < plan.offsets[b] + pieces[b].bytes &&
                             plan.offsets[b] < plan.offsets[a] + pieces[a].bytes;
        ASSERT_FALSE(together && overlap) << a << " and " << b;
      }
    }
    std::int64_t most = 0;  // no plan can do with less
    for (int moment = 0; moment < 60; ++moment) {
      std::int64_t bytes = 0;
      for (const Lifetime& piece : pieces) {
        if (piece.first <= moment && moment <= piece.last) bytes += piece.bytes;
      }
      most = std::max(most, bytes);
    }
    EXPECT_GE(plan.bytes, most);
    EXPECT_LE(plan.bytes, 1.35 * static_cast<double>(most));
  }
}

TEST(MemoryPlan, OneAfterAnotherTakesTheRoomOfOne) {
  const MemoryPlan plan = plan_memory({{1000, 0, 1}, {900, 2, 3}, {800, 4, 4}});
  EXPECT_EQ(plan.bytes, 1024);
  EXPECT_EQ(plan_memory({}).bytes, 0);
}

}  // namespace
}  // namespace ddbench::workload
