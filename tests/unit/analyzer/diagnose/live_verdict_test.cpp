// Readings of simulated ranks, one per second: which rank is named, when, and when none is.
#include "analyzer/diagnose/live/live_verdict.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace ddbench::analyzer {
namespace {

/// Own work of a rank in a second, in ms of a step whose slowest rank takes 10 ms.
using WorkOf = std::function<double(int rank, int second)>;

struct Reported {
  int at_s = 0;
  std::string verdict;
};

std::vector<Reported> reported_by(int ranks, const WorkOf& work_of, int seconds = 60, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 0.2);
  std::vector<int> nodes;
  for (int rank = 0; rank < ranks; ++rank) nodes.push_back(rank / 2);
  LiveVerdict live(nodes, 5);
  std::vector<Reported> reported;
  std::vector<double> collectives_ms(static_cast<std::size_t>(ranks));
  std::uint64_t steps = 5;
  for (int second = 0; second < seconds; ++second) {
    std::vector<double> work;
    double slowest = 0;
    for (int rank = 0; rank < ranks; ++rank) work.push_back(work_of(rank, second) + noise(random));
    for (const double each : work) slowest = std::max(slowest, each);
    const double step_ms = slowest + 1;  // transfer
    const auto count = static_cast<std::uint64_t>(1000 / step_ms);
    steps += count;
    for (int rank = 0; rank < ranks; ++rank) {
      double& sum = collectives_ms[static_cast<std::size_t>(rank)];
      sum += static_cast<double>(count) * (step_ms - work[static_cast<std::size_t>(rank)]);
      live.add({rank, steps, static_cast<std::int64_t>(sum * 1e6)});
    }
    if (live.look(std::int64_t{second} * 1'000'000'000)) reported.push_back({second, live.verdict()});
  }
  return reported;
}

TEST(LiveVerdict, NamesTheSlowRankWithinSecondsOfItsOnsetOnce) {
  for (const int ranks : {2, 3, 4, 8}) {
    const auto reported = reported_by(ranks, [](int rank, int second) { return rank == 1 && second >= 20 ? 10 : 7; });
    ASSERT_EQ(reported.size(), 1U) << ranks;
    EXPECT_GE(reported[0].at_s, 20);
    EXPECT_LE(reported[0].at_s, 20 + 15);
    EXPECT_TRUE(reported[0].verdict.starts_with("rank 1 (node 0) holds the others up since step 2,")) << reported[0].verdict;
    EXPECT_NE(reported[0].verdict.find("% of the time for it"), std::string::npos);
  }
}

TEST(LiveVerdict, NamesRanksThatAreSlowTogetherAndReportsWhenItIsOver) {
  const auto reported = reported_by(8, [](int rank, int second) { return (rank == 4 || rank == 5) && second < 25 ? 10 : 6; });
  ASSERT_EQ(reported.size(), 2U);
  EXPECT_TRUE(reported[0].verdict.starts_with("ranks 4-5 (node 2) hold the others up since step ")) << reported[0].verdict;
  EXPECT_EQ(reported[1].verdict, "");
  EXPECT_GT(reported[1].at_s, 25);
}

TEST(LiveVerdict, IsSilentWhileNobodyIsSlowOrAnotherOneEachTime) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    EXPECT_TRUE(reported_by(4, [](int, int) { return 8; }, 120, seed).empty()) << seed;
    EXPECT_TRUE(reported_by(4, [](int rank, int) { return rank == 2 ? 8.4 : 8; }, 60, seed).empty()) << "4% is not worth a word";
    EXPECT_TRUE(reported_by(4, [](int rank, int second) { return rank == second % 4 ? 10 : 7; }, 60, seed).empty()) << seed;
  }
}

TEST(LiveVerdict, ReportsRateAndCommunicationAndTakesNothingThatCannotBe) {
  LiveVerdict live({0, 0}, 0);
  EXPECT_FALSE(live.steps_per_s() || live.communication_share());
  live.add({7, 3, 1});
  live.add({-1, 3, 1});
  for (int second = 1; second <= 5; ++second) {
    for (const int rank : {0, 1}) live.add({rank, static_cast<std::uint64_t>(100 * second), second * 250'000'000});
    live.add({0, 1, 0});  // goes back
    EXPECT_FALSE(live.look(second * 1'000'000'000LL));
  }
  EXPECT_EQ(live.steps(), 500U);
  EXPECT_NEAR(live.steps_per_s().value_or(0), 100, 1e-9);
  EXPECT_NEAR(live.communication_share().value_or(0), 0.25, 1e-9);
  LiveVerdict warming_up({0, 0}, 10);
  for (const int rank : {0, 1}) warming_up.add({rank, static_cast<std::uint64_t>(4 + rank), 5});
  EXPECT_EQ(warming_up.steps(), 4U);
  LiveVerdict alone({0}, 0);
  alone.add({0, 5, 5});
  EXPECT_FALSE(alone.look(1));
}

TEST(LiveVerdict, StepsLongerThanASecondAreWaitedFor) {
  LiveVerdict live({0, 0}, 1);
  int reported = 0;
  for (int second = 0; second < 200; ++second) {
    if (second % 5 == 0) {
      for (const int rank : {0, 1}) live.add({rank, static_cast<std::uint64_t>(1 + second / 5), second / 5 * (rank == 0 ? 2'000'000'000LL : 100'000'000LL)});
    }
    reported += live.look(second * 1'000'000'000LL);
  }
  EXPECT_EQ(reported, 1);
  EXPECT_TRUE(live.verdict().starts_with("rank 1 (node 0)")) << live.verdict();
  EXPECT_NEAR(live.steps_per_s().value_or(0), 0.2, 0.01);
}

/// Rank 1 of 3 takes 4 ms longer in the part, of a step of 10 ms.
std::string verdict_of(const std::function<LiveOwnTime(int rank, std::uint64_t steps)>& own_of) {
  LiveVerdict live({0, 0, 1}, 5);
  for (int second = 0; second < 20; ++second) {
    const auto steps = static_cast<std::uint64_t>(5 + 100 * second);
    for (int rank = 0; rank < 3; ++rank) {
      live.add({rank, steps, static_cast<std::int64_t>(steps) * (rank == 1 ? 1'000'000 : 5'000'000)});
      live.add_own(own_of(rank, steps / 2));  // half of the steps with the probes on
    }
    live.look(std::int64_t{second} * 1'000'000'000);
  }
  return live.verdict();
}

TEST(LiveVerdict, NamesTheCauseWhereRanksReportTheirOwnTime) {
  const auto ms = [](std::uint64_t steps, int each) { return static_cast<std::int64_t>(steps) * each * 1'000'000; };
  const std::string who = "rank 1 (node 0) holds the others up since step 5: they wait 40% of the time for it";
  EXPECT_EQ(verdict_of([&](int rank, std::uint64_t n) { return LiveOwnTime{rank, n, ms(n, rank == 1 ? 8 : 4), 0, 0}; }),
            who + "; it computes longer: 4.00 ms a step longer than the others");
  EXPECT_EQ(verdict_of([&](int rank, std::uint64_t n) { return LiveOwnTime{rank, n, ms(n, 4), ms(n, rank == 1 ? 5 : 1), 0}; }),
            who + "; it waits for its data loader: 4.00 ms a step longer than the others");
  EXPECT_EQ(verdict_of([&](int rank, std::uint64_t n) { return LiveOwnTime{rank, n, ms(n, rank == 1 ? 8 : 4), 0, ms(n, rank == 1 ? 4 : 0)}; }),
            who + "; it waits for a core: 4.00 ms a step longer than the others");
  EXPECT_EQ(verdict_of([&](int rank, std::uint64_t n) { return LiveOwnTime{rank, n, ms(n, 4), 0, 0}; }),
            who + "; it is busy between operators: 4.00 ms a step longer than the others");
  EXPECT_EQ(verdict_of([&](int rank, std::uint64_t n) { return LiveOwnTime{rank, n, -1, 0, 0}; }), who) << "of a GPU compute is not known";
  EXPECT_EQ(verdict_of([&](int rank, std::uint64_t n) { return LiveOwnTime{rank, n, ms(n, rank == 1 ? 6 : 4), ms(n, rank == 1 ? 2 : 0), 0}; }), who)
      << "half and half";
  EXPECT_EQ(verdict_of([&](int rank, std::uint64_t n) { return LiveOwnTime{rank, rank == 2 ? 7 : n, 0, 0, 0}; }), who) << "one rank reports no time of its own";
  EXPECT_EQ(verdict_of([&](int, std::uint64_t n) { return LiveOwnTime{-1, n, 0, 0, 0}; }), who);
}

}  // namespace
}  // namespace ddbench::analyzer
