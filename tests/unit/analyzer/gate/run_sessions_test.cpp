#include "analyzer/gate/run_sessions.h"

#include <gtest/gtest.h>

#include "sample_runs.h"

namespace ddbench::analyzer {
namespace {

using test::kMinute_ns;

store::RunRecord at(int minute, const std::string& boot = "boot") {
  store::RunRecord run = test::sample_run("r", minute * kMinute_ns, 10).run;
  run.owner_boot_id = boot;
  return run;
}

std::vector<store::RunRecord> at_minutes(const std::vector<int>& minutes) {
  std::vector<store::RunRecord> runs;
  for (const int minute : minutes) runs.push_back(at(minute));
  return runs;
}

TEST(SessionsOf, SplitAtLongPausesAndReboots) {
  const std::vector<store::RunRecord> runs{at(300), at(0), at(50), at(1), at(301), at(302, "another boot")};
  EXPECT_EQ(sessions_of(runs), (std::vector<std::vector<std::size_t>>{{1, 3, 2}, {0, 4}, {5}}));
  EXPECT_TRUE(sessions_of({}).empty());
}

TEST(SessionsOf, ThePauseCountsFromTheEndOfARun) {
  std::vector<store::RunRecord> runs{at(0), at(100)};
  EXPECT_EQ(sessions_of(runs).size(), 2u);
  runs[0].finished_wall_ns = 90 * kMinute_ns;
  EXPECT_EQ(sessions_of(runs).size(), 1u);
}

TEST(SessionsOf, MachinesThatWorkAtTheSameTimeAreSessionsOfTheirOwn) {
  std::vector<store::RunRecord> runs{at(0, "a"), at(1, "b"), at(2, "a"), at(3, "b")};
  EXPECT_EQ(sessions_of(runs), (std::vector<std::vector<std::size_t>>{{0, 2}, {1, 3}}));
}

TEST(InterleavedPairs, PairRunsThatWereMadeInTurns) {
  const auto baseline = at_minutes({0, 3, 4});
  const auto candidate = at_minutes({1, 2, 5});
  const auto pairs = interleaved_pairs(baseline, candidate);
  ASSERT_TRUE(pairs);
  ASSERT_EQ(pairs->size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*pairs)[i].baseline, i);
    EXPECT_EQ((*pairs)[i].candidate, i);
  }
  EXPECT_EQ(sides_in_time(baseline, candidate), SidesInTime::kInterleaved);
}

TEST(InterleavedPairs, MayAlternateWithOneSideAlwaysFirst) {
  const auto alternating = interleaved_pairs(at_minutes({0, 2, 4, 6, 8}), at_minutes({1, 3, 5, 7, 9}));
  ASSERT_TRUE(alternating);
  EXPECT_EQ(order_imbalance(*alternating), 1);
  EXPECT_EQ(order_imbalance(*interleaved_pairs(at_minutes({1, 3}), at_minutes({0, 2}))), -1);
  EXPECT_EQ(order_imbalance(*interleaved_pairs(at_minutes({0, 2, 5, 7}), at_minutes({1, 3, 4, 6}))), 0);
}

TEST(InterleavedPairs, AreNotMadeOfBlocksOrUnequalSides) {
  EXPECT_FALSE(interleaved_pairs(at_minutes({0, 1, 2}), at_minutes({3, 4, 5})));
  EXPECT_FALSE(interleaved_pairs(at_minutes({0, 3}), at_minutes({1, 2, 4})));
  EXPECT_FALSE(interleaved_pairs(at_minutes({0}), at_minutes({1})));
  EXPECT_FALSE(interleaved_pairs(at_minutes({0, 301}), at_minutes({150, 300})));
  EXPECT_EQ(sides_in_time(at_minutes({0, 1, 2}), at_minutes({3, 4, 5})), SidesInTime::kBlocks);
  EXPECT_EQ(sides_in_time(at_minutes({0, 1, 2}), at_minutes({303, 304, 305})), SidesInTime::kSessions);
}

TEST(InterleavedPairs, MayLieInSeveralSessions) {
  EXPECT_EQ(sides_in_time(at_minutes({0, 3, 500, 503}), at_minutes({1, 2, 501, 502})),
            SidesInTime::kInterleaved);
}

}  // namespace
}  // namespace ddbench::analyzer
