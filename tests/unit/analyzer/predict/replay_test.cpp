#include "analyzer/predict/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "step_events.h"

namespace ddbench::analyzer {
namespace {

TEST(Replay, ABucketStartsWhenItIsReadyOnAllRanksAndTheLaneIsFree) {
  // Rank 1 has its first bucket at 120: it goes over 120..170. The second is ready at 160, and goes over 170..230.
  const auto steps = recording({1, 2}, {two_buckets(100, 50, 7), two_buckets(120, 40, 7)}, {50, 60});
  EXPECT_DOUBLE_EQ(step_of(steps), 237);
  // A slow network: 120..1120, 1120..2120.
  EXPECT_DOUBLE_EQ(step_of(steps, {2, 1}, {1000, 1000}), 2127);
  // One that takes no time: the slower rank's own work.
  EXPECT_DOUBLE_EQ(step_of(steps, {2, 1}, {0, 0}), 167);
}

TEST(Replay, ARankThatStartsACollectiveLateDelaysIt) {
  auto steps = recording({1, 2}, {two_buckets(100, 50, 7), two_buckets(100, 50, 7)}, {50, 60});
  EXPECT_DOUBLE_EQ(step_of(steps), 217);  // 100..150, 150..210
  steps.steps[0].ranks[1].start_delay_ns = {30, 0};
  EXPECT_DOUBLE_EQ(step_of(steps), 247);  // 130..180, 180..240
}

TEST(Replay, ACollectiveEndsOnEachRankAtItsRecordedShare) {
  auto steps = recording({1, 2}, {two_buckets(100, 0, 7), two_buckets(100, 0, 50)}, {50, 60});
  steps.steps[0].ranks[0].end_share = {0.2, 0.5};
  // Rank 0 ends its first at 110 and begins its second then; rank 1 at 150, which ends at 180 and 210.
  EXPECT_DOUBLE_EQ(step_of(steps), 260);
  EXPECT_DOUBLE_EQ(step_of(steps, {1, 2}, {50, 60}), 260);
  steps.steps[0].ranks[1].events.back().ns = 0;
  EXPECT_DOUBLE_EQ(step_of(steps), 210);
  EXPECT_DOUBLE_EQ(step_of(steps, {1, 2}, {50, 60}), 217);  // shares are those of the recorded network
  // A sender of a buffered message does not wait.
  auto sent = recording({1, 2}, {two_buckets(10, 10, 7), two_buckets(100, 0, 0)}, {50, 60});
  sent.steps[0].ranks[0].end_share = {-1, -1};
  sent.steps[0].ranks[1].end_share = {-1, -1};
  EXPECT_DOUBLE_EQ(step_of(sent), 100);
}

TEST(Replay, ComputeBesideACollectiveIsSlowed) {
  auto steps = recording({1, 2}, {two_buckets(100, 50, 0), two_buckets(100, 50, 0)}, {30, 0});
  steps.slowdown = 0.5;
  // Of 30 ns beside the first bucket 20 ns' worth is done; 30 ns are left alone: ready at 160.
  EXPECT_DOUBLE_EQ(step_of(steps), 160);
  steps.steps[0].transfer_ns = {1000, 0};  // all 50 ns of compute beside it take 75; the lane is busy until 1100
  EXPECT_DOUBLE_EQ(step_of(steps), 1100);
}

TEST(Replay, RanksOfANodeDoTheSameRecordedStepAndNodesDifferentOnes) {
  auto steps = recording({1, 2}, {two_buckets(100, 0, 0), two_buckets(100, 0, 0)}, {0, 0});
  steps.steps.push_back(steps.steps[0]);
  steps.steps[1].ranks = {two_buckets(300, 0, 0), two_buckets(300, 0, 0)};
  const ReplaySchedule mixed{2, {0, 0, 0, 1}};  // the second node has the slow step second
  EXPECT_DOUBLE_EQ(replay(steps, {2, 2}, mixed, {}).step_ns, (100 + 300) / 2.0);
}

TEST(Replay, TheMaximumOverManyNodesGrowsAsOrderStatisticsDo) {
  // Uniform work on 0..1000: the slowest of n takes 1000 n/(n+1) on average.
  StepRecording steps = recording({1, 1}, {two_buckets(0, 0, 0)}, {0, 0});
  steps.steps.clear();
  for (std::uint32_t i = 0; i < 1000; ++i)
    steps.steps.push_back({2 * i, {two_buckets(static_cast<double>(i) + 0.5, 0, 0)}, {0, 0}});
  for (const int n : {1, 4, 16, 64}) {
    const auto schedule = draw_schedule(blocks_of(steps), static_cast<std::size_t>(n), 2000, 7);
    EXPECT_NEAR(replay(steps, {n, 1}, schedule, {}).step_ns, 1000.0 * n / (n + 1), 25) << n;
  }
}

TEST(Replay, ANodeThatStandsForManyIsAsSlowAsTheSlowestOfThem) {
  StepRecording steps = recording({1, 1}, {two_buckets(0, 0, 0)}, {0, 0});
  steps.steps.clear();
  for (std::uint32_t i = 0; i < 1000; ++i)  // not in order of their length
    steps.steps.push_back({2 * i, {two_buckets(static_cast<double>(i * 7 % 1000) + 0.5, 0, 0)}, {0, 0}});
  const StepBlocks blocks = steps_by_work(steps, blocks_of(steps));
  EXPECT_EQ(steps.steps[blocks[999].first].ranks[0].events[0].ns, 999.5);
  for (const double each : {1.0, 4.0, 64.0}) {
    const auto schedule = draw_schedule(blocks, 4, 2000, 7, each);
    EXPECT_NEAR(replay(steps, {4, 1}, schedule, {}).step_ns, 1000.0 * 4 * each / (4 * each + 1), 12) << each;
  }
}

TEST(Replay, BlocksAreStepsThatFollowEachOther) {
  StepRecording steps = recording({1, 1}, {two_buckets(1, 1, 1)}, {0, 0});
  for (const std::uint32_t step : {6U, 7U, 11U, 12U, 20U}) {
    steps.steps.push_back(steps.steps[0]);
    steps.steps.back().step = step;
  }
  const auto blocks = blocks_of(steps);
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[0], std::pair(std::size_t{0}, std::size_t{3}));
  EXPECT_EQ(blocks[2], std::pair(std::size_t{5}, std::size_t{6}));
  const auto schedule = draw_schedule(blocks, 3, 50, 1);
  EXPECT_EQ(schedule.recorded.size(), 150U);
  for (const std::uint32_t index : schedule.recorded) EXPECT_LT(index, 6U);
  EXPECT_EQ(schedule.recorded, draw_schedule(blocks, 3, 50, 1).recorded);
  EXPECT_NE(schedule.recorded, draw_schedule(blocks, 3, 50, 2).recorded);
}

TEST(Replay, LongStretchesAreCutIntoBlocksToDraw) {
  const auto lengths = [](const std::vector<std::uint32_t>& stretches) {
    StepRecording steps = recording({1, 1}, {two_buckets(1, 1, 1)}, {0, 0});
    const RecordedStep one = steps.steps[0];
    steps.steps.clear();
    std::uint32_t number = 0;
    for (const std::uint32_t stretch : stretches) {
      for (std::uint32_t i = 0; i < stretch; ++i) {
        steps.steps.push_back(one);
        steps.steps.back().step = number++;
      }
      ++number;  // a gap
    }
    std::vector<std::size_t> result;
    std::size_t next = 0;
    for (const auto& [first, last] : blocks_to_draw(steps)) {
      EXPECT_EQ(first, next);
      next = last;
      result.push_back(last - first);
    }
    EXPECT_EQ(next, steps.steps.size());
    return result;
  };
  using Lengths = std::vector<std::size_t>;
  EXPECT_EQ(lengths({120}), Lengths(15, 8));
  EXPECT_EQ(lengths({24}), Lengths(8, 3));
  EXPECT_EQ(lengths({5}), Lengths(5, 1));
  EXPECT_EQ(lengths({1}), Lengths{1});
  EXPECT_EQ(lengths({8, 8, 8, 8, 8, 8, 8, 8}), Lengths(8, 8));
  EXPECT_EQ(lengths({60, 12}), (Lengths{7, 8, 7, 8, 7, 8, 7, 8, 6, 6}));
}

TEST(Replay, EveryStepIsDrawnEquallyOften) {
  const StepBlocks blocks = {{0, 8}, {8, 16}, {16, 24}};
  for (const std::size_t steps : {4U, 8U, 13U, 64U}) {
    constexpr std::size_t kNodes = 3000;
    std::vector<double> count(24);
    for (const std::uint32_t index : draw_schedule(blocks, kNodes, steps, 3).recorded) ++count[index];
    const double expected = static_cast<double>(kNodes * steps) / 24;
    for (const double times : count) EXPECT_NEAR(times / expected, 1, 0.2) << steps;
  }
}

/// The same, nanosecond by nanosecond, for whole numbers and without slowdown and delays.
class Ticking {
 public:
  explicit Ticking(const StepRecording& steps)
      : step_(steps.steps[0]), collectives_(steps.collectives.size()), ranks_(step_.ranks.size()) {
    for (Rank& rank : ranks_) rank.issued.resize(collectives_);
  }

  int ends_at() {
    for (int now = 0; now < 100'000; ++now) {
      while (advance_ranks() || advance_lane()) {
      }
      if (done()) return now;
      for (Rank& rank : ranks_) rank.left -= rank.left > 0 ? 1 : 0;
      lane_left_ -= lane_left_ > 0 ? 1 : 0;
    }
    return -1;
  }

 private:
  struct Rank {
    std::size_t event = 0;
    double left = -1;
    std::vector<bool> issued;
  };

  bool advance_ranks() {
    bool moved = false;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      while (ranks_[r].event < step_.ranks[r].events.size() && pass(ranks_[r], step_.ranks[r].events[ranks_[r].event])) {
        ++ranks_[r].event;
        moved = true;
      }
    }
    return moved;
  }

  bool pass(Rank& rank, const StepEvent& event) const {
    if (event.action == StepAction::kWait) return event.collective < lane_;
    if (event.action == StepAction::kIssue) return rank.issued[event.collective] = true;
    if (rank.left < 0) rank.left = event.ns;
    if (rank.left > 0) return false;
    rank.left = -1;
    return true;
  }

  bool advance_lane() {
    const bool ready = lane_ < collectives_ &&
                       std::all_of(ranks_.begin(), ranks_.end(), [&](const Rank& rank) { return rank.issued[lane_]; });
    if (!ready) return false;
    if (lane_left_ < 0) lane_left_ = step_.transfer_ns[lane_];
    if (lane_left_ > 0) return false;
    ++lane_;
    lane_left_ = -1;
    return true;
  }

  bool done() const {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      if (ranks_[r].event < step_.ranks[r].events.size()) return false;
    }
    return true;
  }

  const RecordedStep& step_;
  std::size_t collectives_;
  std::vector<Rank> ranks_;
  std::size_t lane_ = 0;
  double lane_left_ = -1;
};

TEST(Replay, AgreesWithAClockThatTicks) {
  std::mt19937 random(3);
  const auto up_to = [&](unsigned most) { return static_cast<double>(random() % (most + 1)); };
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<RankStep> ranks;
    const auto buckets = static_cast<std::uint32_t>(1 + random() % 5);
    const bool blocking = random() % 4 == 0;
    for (unsigned r = 0, many = 1 + random() % 4; r < many; ++r) {
      RankStep step;
      step.start_delay_ns.assign(buckets, 0);
      step.end_share.assign(buckets, 1);
      for (std::uint32_t bucket = 0; bucket < buckets; ++bucket) {
        step.events.push_back(work(up_to(40)));
        step.events.push_back(issue(bucket));
        if (blocking) step.events.push_back(wait(bucket));
      }
      step.events.push_back(work(up_to(10), WorkKind::kHost));
      for (std::uint32_t bucket = 0; bucket < buckets; ++bucket) step.events.push_back(wait(bucket));
      step.events.push_back(work(up_to(20), WorkKind::kOptimizer));
      ranks.push_back(std::move(step));
    }
    std::vector<double> transfers;
    for (std::uint32_t bucket = 0; bucket < buckets; ++bucket) transfers.push_back(up_to(60));
    const auto count = static_cast<int>(ranks.size());
    const auto steps = recording({1, count}, std::move(ranks), std::move(transfers));
    EXPECT_DOUBLE_EQ(step_of(steps, {1, count}), Ticking(steps).ends_at()) << trial;
  }
}

TEST(ReplayOverRecorded, IsOneWhereRanksTakeTurnsInBeingLate) {
  StepRecording steps = recording({1, 2}, {}, {0});
  steps.steps.clear();
  // Each step: 5 before the collective, then 10 on one of the ranks. The other one waits in the next step.
  const double durations[3][2] = {{15, 5}, {5, 25}, {25, 5}};
  for (std::uint32_t number = 0; number < 3; ++number) {
    std::vector<RankStep> ranks;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      RankStep own;
      own.events = {work(5), issue(0), wait(0), work(number % 2 == rank ? 10 : 0)};
      own.start_delay_ns = {0};
      own.end_share = {1};
      own.duration_ns = durations[number][rank];
      ranks.push_back(std::move(own));
    }
    steps.steps.push_back({number, std::move(ranks), {0}});
  }
  steps.step_ns = 15;  // both ranks reach the third collective at 40, and one works 5 more: 45 for three steps
  EXPECT_NEAR(replay_over_recorded(steps), 1, 1e-9);
  steps.step_ns = 0;  // not known
  EXPECT_EQ(replay_over_recorded(steps), 1);
}

TEST(ReplayOverRecorded, IsThatOfOtherTransfersToo) {
  // Beside 100 of compute a collective of 0 takes no time, and one of 200 takes 100. The mean of both is hidden.
  StepRecording steps = recording({1, 2}, {two_buckets(0, 100, 0), two_buckets(0, 100, 0)}, {0, 0});
  steps.steps.push_back(steps.steps[0]);
  steps.steps[1].step = 6;
  steps.steps[1].transfer_ns = {200, 0};
  steps.step_ns = 150;
  EXPECT_NEAR(replay_over_recorded(steps), 1, 1e-9);
  EXPECT_NEAR(replay_over_recorded(steps, std::vector<double>{100, 0}), 100.0 / 150, 1e-9);
}

}  // namespace
}  // namespace ddbench::analyzer
