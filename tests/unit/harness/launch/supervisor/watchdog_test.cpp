#include "harness/launch/supervisor/watchdog.h"

#include <gtest/gtest.h>

#include "harness/launch/supervisor/supervised_rank.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;

const SteadyTime kNow = SteadyTime() + 10'000s;
constexpr auto kLimit = 5000ms;

RankView rank_in(int rank, const char* function, std::uint64_t sequence, bool inside,
                 std::chrono::milliseconds stood) {
  RankView view;
  view.rank = rank;
  view.node = rank / 2;
  view.pid = 100 + rank;
  view.last_heard = kNow - 100ms;
  view.last_progress = kNow - stood;
  view.heartbeat.steps_completed = 7;
  view.heartbeat.collective = {function, sequence, inside, std::chrono::nanoseconds(stood).count()};
  return view;
}

TEST(Watchdog, IsContentWhileAnyRankAdvances) {
  EXPECT_FALSE(why_stalled({}, kLimit, kNow));
  EXPECT_FALSE(why_stalled(
      {rank_in(0, "all_reduce", 41, true, 60s), rank_in(1, "all_reduce", 40, false, 4900ms)}, kLimit, kNow));
}

TEST(Watchdog, NamesTheRankThatDoesNotAnswer) {
  std::vector<RankView> ranks = {
      rank_in(0, "all_reduce", 41, true, 5s), rank_in(1, "all_reduce", 41, true, 5s),
      rank_in(2, "all_reduce", 41, true, 5s), rank_in(3, "all_reduce", 40, false, 5s)};
  ranks[3].last_heard = kNow - 5s;
  EXPECT_EQ(why_stalled(ranks, kLimit, kNow).value_or(""),
            "rank 3 (node 1, pid 103) has not answered for 5.0 s; the others wait for it in all_reduce #41 "
            "of group 0 (all ranks) in step 7");
}

TEST(Watchdog, NamesSeveralThatDoNotAnswer) {
  std::vector<RankView> ranks = {rank_in(0, "all_reduce", 41, true, 5s),
                                 rank_in(1, "all_reduce", 40, false, 5s),
                                 rank_in(2, "all_reduce", 40, false, 5s)};
  ranks[1].last_heard = kNow - 5s;
  ranks[2].last_heard = kNow - 6s;
  EXPECT_EQ(why_stalled(ranks, kLimit, kNow).value_or(""),
            "rank 1 (node 0, pid 101) and rank 2 (node 1, pid 102) have not answered for 5.0 s; the others "
            "wait for them "
            "in all_reduce #41 of group 0 (all ranks) in step 7");
}

TEST(Watchdog, SilenceAloneIsEnoughAfterTheLimit) {
  std::vector<RankView> ranks = {rank_in(0, "all_reduce", 41, false, 1s),
                                 rank_in(1, "all_reduce", 41, false, 1s)};
  ranks[1].last_heard = kNow - 4900ms;
  EXPECT_FALSE(why_stalled(ranks, kLimit, kNow));
  ranks[1].last_heard = kNow - 5s;
  EXPECT_EQ(why_stalled(ranks, kLimit, kNow).value_or(""),
            "rank 1 (node 0, pid 101) has not answered for 5.0 s");
}

TEST(Watchdog, NamesTheRankThatIsMissingFromTheCollective) {
  EXPECT_EQ(
      why_stalled({rank_in(0, "all_reduce", 41, true, 5s), rank_in(1, "all_reduce", 40, false, 6s)}, kLimit,
                  kNow)
          .value_or(""),
      "rank 1 (node 0, pid 101) has not entered all_reduce #41 of group 0 (all ranks) in step 7, in which the others wait; in no "
      "collective for 6.0 s");
  EXPECT_EQ(
      why_stalled({rank_in(0, "all_reduce", 41, true, 5s), rank_in(1, "broadcast", 40, true, 6s)}, kLimit,
                  kNow)
          .value_or(""),
      "rank 1 (node 0, pid 101) has not entered all_reduce #41 of group 0 (all ranks) in step 7, in which the others wait; still in "
      "broadcast #40 of group 0 (all ranks) in step 7 for 6.0 s");
}

TEST(Watchdog, NamesTheLongWorkOfTheRankThatIsAwaited) {
  std::vector<RankView> ranks = {rank_in(0, "all_reduce", 40, false, 61s), rank_in(1, "barrier", 41, true, 60s)};
  ranks[0].heartbeat.long_work = ddp::LongWork::kWriteCheckpoint;
  EXPECT_EQ(why_stalled(ranks, kLimit, kNow).value_or(""),
            "rank 0 (node 0, pid 100) has not entered barrier #41 of group 0 (all ranks) in step 7, in which the others wait; in no "
            "collective for 61.0 s; it writes a checkpoint");
  EXPECT_NE(where_ranks_are(ranks, kNow).find("the last was all_reduce #40; it writes a checkpoint\n"), std::string::npos);
  ranks[0] = rank_in(0, "", 0, false, 60s);
  ranks[0].heartbeat.long_work = ddp::LongWork::kReadCheckpoint;
  EXPECT_TRUE(why_stalled(ranks, kLimit, kNow).value_or("").ends_with("in which the others wait; it reads a checkpoint"));
  ranks.pop_back();
  ranks[0].heartbeat.long_work = ddp::LongWork::kDrawParameters;
  EXPECT_TRUE(why_stalled(ranks, kLimit, kNow).value_or("").ends_with("is in step 7; it draws the parameters"));
}

TEST(Watchdog, APieceOfLongWorkIsProgress) {
  SupervisedRank rank(0, 0, 0, {});
  Heartbeat beat;
  beat.long_work = ddp::LongWork::kWriteCheckpoint;
  beat.pieces = 1;
  EXPECT_FALSE(rank.take(beat, kNow)) << "no step";
  EXPECT_EQ(rank.last_progress, kNow);
  rank.take(beat, kNow + 1s);
  EXPECT_EQ(rank.last_progress, kNow) << "it stands still";
  ++beat.pieces;
  rank.take(beat, kNow + 2s);
  rank.last_heard = kNow + 2s;
  EXPECT_EQ(rank.last_progress, kNow + 2s);
  const RankView waiting = rank_in(1, "barrier", 41, true, 60s);
  EXPECT_FALSE(why_stalled({rank.view(), waiting}, kLimit, kNow + 3s)) << "rank 0 writes";
}

TEST(Watchdog, SaysWhereEachRankIs) {
  std::vector<RankView> ranks = {rank_in(0, "all_reduce", 41, true, 3s), rank_in(1, "all_reduce", 40, false, 3s),
                                 rank_in(2, "", 0, false, 3s)};
  ranks[1].last_heard = kNow - 3s;
  EXPECT_EQ(where_ranks_are(ranks, kNow),
            "rank 1 (node 0, pid 101) has not answered for 3.0 s; the others wait for it in all_reduce #41 of group 0 (all ranks) "
            "in step 7\n"
            "  rank 0 (node 0, pid 100): in all_reduce #41 of group 0 (all ranks) in step 7 for 3.1 s\n"
            "  rank 1 (node 0, pid 101): in no collective for 6.0 s, in step 7; the last was all_reduce #40; has not answered for "
            "3.0 s\n"
            "  rank 2 (node 1, pid 102): in no collective yet, in step 7");
  ranks[0].last_progress = kNow;
  ranks[1].last_heard = kNow;
  EXPECT_TRUE(where_ranks_are(ranks, kNow).starts_with("no hang: within the last 2 s a rank went on\n"));
  EXPECT_EQ(where_ranks_are({}, kNow), "no hang: within the last 2 s a rank went on");
}

TEST(Watchdog, BlamesTheNetworkWhenEverybodyWaits) {
  const auto reason = why_stalled(
      {rank_in(0, "all_reduce", 41, true, 5s), rank_in(1, "all_reduce", 41, true, 5s)}, kLimit, kNow);
  EXPECT_NE(reason.value_or("").find("every rank has entered all_reduce #41 of group 0 (all ranks) in step 7"), std::string::npos);
}

TEST(Watchdog, SaysWhenNobodyCommunicates) {
  const auto reason = why_stalled({rank_in(0, "", 0, false, 5s)}, kLimit, kNow);
  EXPECT_NE(reason.value_or("").find("no rank has finished a step"), std::string::npos);
}

}  // namespace
}  // namespace ddbench::launch
