#include "analyzer/clocks/causal_clocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "synthetic_run.h"

namespace ddbench::analyzer {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;

/// Ranks whose readings are wrong by `error_ns` each, within `uncertainty_ns`.
std::vector<store::RankRecord> ranks_with(const std::vector<std::int64_t>& error_ns,
                                          std::int64_t uncertainty_ns) {
  std::vector<store::RankRecord> ranks;
  for (const std::int64_t error : error_ns) {
    store::RankRecord& rank = ranks.emplace_back();
    rank.clock.start = {kSecond_ns, error, uncertainty_ns};
    rank.clock.end = {10 * kSecond_ns, error, uncertainty_ns};
    rank.clock.between = {{5 * kSecond_ns, error, uncertainty_ns}};
  }
  return ranks;
}

/// All-reduces over the truth's one clock: ranks come at random, and all leave `transfer_ns` after the last.
std::vector<std::vector<Attendance>> collectives(std::size_t ranks, int count, std::int64_t transfer_ns) {
  std::mt19937 random(5);
  std::vector<std::vector<Attendance>> all;
  for (int i = 0; i < count; ++i) {
    std::vector<Attendance>& one = all.emplace_back();
    std::int64_t last_ns = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto late_ns = static_cast<std::int64_t>(random() % 200'000);
      one.push_back({rank, 5 * kSecond_ns + 100'000 + i * kUs * 1000 + late_ns, 0});
      last_ns = std::max(last_ns, one.back().begin_ns);
    }
    for (Attendance& rank : one) rank.end_ns = last_ns + transfer_ns + static_cast<std::int64_t>(random() % kUs);
  }
  return all;
}

struct Solved {
  ClockAlignment readings;
  CausalClocks clocks;
  std::int64_t second;

  Solved(const std::vector<store::RankRecord>& ranks, const std::vector<std::vector<Attendance>>& all)
      : readings(ranks), clocks(readings), second(clocks.second_of(0, all.front().front().begin_ns)) {
    for (const auto& one : all) clocks.add(second, one);
    clocks.solve();
  }
};

TEST(CausalClocks, NarrowsWhatTheReadingsLeaveOpenAndStillHoldsTheTruth) {
  // Readings are good to 50 us and wrong by up to 40; collectives take 5.
  const std::vector<std::int64_t> error_ns = {0, 40 * kUs, -30 * kUs, 10 * kUs};
  const Solved solved(ranks_with(error_ns, 50 * kUs), collectives(4, 400, 5 * kUs));
  EXPECT_EQ(solved.clocks.contradictions(), 0u);
  const std::int64_t at_ns = 5 * kSecond_ns + 100'000;
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < 4; ++b) {
      if (a == b) continue;
      const std::int64_t uncertainty_ns = solved.clocks.uncertainty_ns(solved.second, a, b);
      // One moment of the truth, as the two ranks' clocks are aligned now.
      const std::int64_t difference_ns = solved.clocks.to_reference(solved.second, a, at_ns) -
                                         solved.clocks.to_reference(solved.second, b, at_ns);
      EXPECT_LE(std::abs(difference_ns), uncertainty_ns) << a << " " << b;
      EXPECT_LT(uncertainty_ns, 20 * kUs) << "100 us by the readings";
    }
  }
}

TEST(CausalClocks, NoCollectiveEndsBeforeItsLastRankCame) {
  const auto all = collectives(3, 50, 2 * kUs);
  const Solved solved(ranks_with({0, 30 * kUs, -30 * kUs}, 40 * kUs), all);
  for (const auto& one : all) {
    std::int64_t last_ns = 0;
    std::int64_t first_end_ns = INT64_MAX;
    for (const Attendance& rank : one) {
      last_ns = std::max(last_ns, solved.clocks.to_reference(solved.second, rank.rank, rank.begin_ns));
      first_end_ns = std::min(first_end_ns, solved.clocks.to_reference(solved.second, rank.rank, rank.end_ns));
    }
    EXPECT_LE(last_ns, first_end_ns + kUs) << "to what a clock wanders within a second";
  }
}

TEST(CausalClocks, WidensReadingsThatCollectivesContradict) {
  // The readings claim 1 us and are wrong by 40.
  const Solved solved(ranks_with({0, 40 * kUs}, kUs), collectives(2, 100, 2 * kUs));
  EXPECT_EQ(solved.clocks.contradictions(), 1u);
  const std::int64_t at_ns = 5 * kSecond_ns + 100'000;
  const std::int64_t difference_ns = solved.clocks.to_reference(solved.second, 0, at_ns) -
                                     solved.clocks.to_reference(solved.second, 1, at_ns);
  EXPECT_LE(std::abs(difference_ns), solved.clocks.uncertainty_ns(solved.second, 0, 1));
  EXPECT_LT(std::abs(difference_ns), 10 * kUs);
}

TEST(CausalClocks, SpansThatContradictEachOtherBoundNothing) {
  std::vector<std::vector<Attendance>> all = collectives(2, 10, 2 * kUs);
  // Each rank ends before the other begins.
  all.push_back({{0, all[0][0].begin_ns + kSecond_ns / 4, all[0][0].begin_ns + kSecond_ns / 4 + 10},
                 {1, all[0][0].begin_ns + kSecond_ns / 2, all[0][0].begin_ns + kSecond_ns / 2 + 10}});
  all.push_back({{1, all[0][0].begin_ns + kSecond_ns / 4, all[0][0].begin_ns + kSecond_ns / 4 + 10},
                 {0, all[0][0].begin_ns + kSecond_ns / 2, all[0][0].begin_ns + kSecond_ns / 2 + 10}});
  const Solved solved(ranks_with({0, 0}, 3 * kUs), all);
  EXPECT_EQ(solved.clocks.contradictions(), 1u);
  EXPECT_LE(solved.clocks.uncertainty_ns(solved.second, 0, 1), 7 * kUs) << "what the readings say";
}

TEST(CausalClocks, OneClockIsExact) {
  std::vector<store::RankRecord> ranks(2);
  for (store::RankRecord& rank : ranks) rank.clock.shared_clock = true;
  const Solved solved(ranks, collectives(2, 10, kUs));
  EXPECT_EQ(solved.clocks.uncertainty_ns(solved.second, 0, 1), 0);
  EXPECT_EQ(solved.clocks.to_reference(solved.second, 1, 42), 42);
}

}  // namespace
}  // namespace ddbench::analyzer
