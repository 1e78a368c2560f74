#include "analyzer/predict/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "analyzer/predict/what_if.h"
#include "core/error.h"
#include "step_events.h"

namespace ddbench::analyzer {
namespace {

double step_of(const StepRecording& steps, ClusterShape shape = {1, 2}, std::vector<double> transfer_ns = {}) {
  ReplaySchedule schedule{1, std::vector<std::uint32_t>(static_cast<std::size_t>(shape.nodes), 0)};
  return replay(steps, shape, schedule, transfer_ns).step_ns;
}

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
  auto blocks = blocks_of(steps);
  sort_by_work(steps, blocks);
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

TEST(WhatIf, LargerBucketsJoinRecordedOnes) {
  const double megabyte = 1 << 20;
  auto steps = recording({1, 2}, {two_buckets(100, 50, 7), two_buckets(100, 50, 7)}, {50, 60});
  for (auto& collective : steps.collectives) collective.bytes = megabyte;
  WhatIf what_if;
  what_if.bucket_bytes = megabyte;
  EXPECT_EQ(changed(steps, what_if).collectives.size(), 2U);
  steps.collectives[0].bytes = steps.collectives[1].bytes = megabyte / 2;
  const StepRecording joined = changed(steps, what_if);
  ASSERT_EQ(joined.collectives.size(), 1U);
  EXPECT_DOUBLE_EQ(joined.collectives[0].bytes, megabyte);
  EXPECT_DOUBLE_EQ(step_of(joined, {1, 2}, {80}), 100 + 50 + 80 + 7);
}

TEST(WhatIf, ABucketIsClosedAsSoonAsItHoldsItsSize) {
  const double megabyte = 1 << 20;
  auto steps = recording({1, 2}, {two_buckets(100, 50, 7), two_buckets(100, 50, 7)}, {50, 60});
  const auto sizes = [&](double first, double second, double bucket) {
    steps.collectives[0].bytes = first * megabyte;
    steps.collectives[1].bytes = second * megabyte;
    WhatIf what_if;
    what_if.bucket_bytes = bucket * megabyte;
    std::vector<double> megabytes;
    for (const StepCollective& one : changed(steps, what_if).collectives) megabytes.push_back(one.bytes / megabyte);
    return megabytes;
  };
  // The last tensor of a bucket reaches over its size: these are the buckets of 25 MiB, the first of 1 MiB.
  EXPECT_EQ(sizes(1.02, 27.5, 25), (std::vector<double>{1.02, 27.5}));
  EXPECT_EQ(sizes(0.6, 27.5, 25), (std::vector<double>{28.1}));
  EXPECT_EQ(sizes(1, 30, 10), (std::vector<double>{1, 10, 10, 10}));
  EXPECT_EQ(sizes(1, 39, 10), (std::vector<double>{1, 13, 13, 13}));
  EXPECT_EQ(sizes(51, 10, 25), (std::vector<double>{1, 25, 25, 10}));  // the first one holds 1 MiB
}

TEST(WhatIf, SmallerBucketsLeaveEarlier) {
  const double megabyte = 1 << 20;
  auto steps = recording({1, 1}, {two_buckets(100, 60, 7)}, {50, 60});
  steps.collectives[0].bytes = steps.collectives[1].bytes = megabyte;
  WhatIf what_if;
  what_if.bucket_bytes = megabyte / 2;
  const StepRecording split = changed(steps, what_if);
  ASSERT_EQ(split.collectives.size(), 4U);
  for (const StepCollective& collective : split.collectives) EXPECT_DOUBLE_EQ(collective.bytes, megabyte / 2);
  // Ready at 50, 100, 130 and 160: over 50..90, 100..140, 140..180 and 180..220.
  EXPECT_DOUBLE_EQ(step_of(split, {2, 1}, {40, 40, 40, 40}), 227);
  EXPECT_FALSE(split.notes.empty());
}

TEST(WhatIf, WorkScalesByItsKind) {
  RankStep step;
  step.events = {work(10, WorkKind::kData), work(100), work(20, WorkKind::kHost), work(5, WorkKind::kOptimizer)};
  const auto steps = recording({1, 1}, {step}, {});
  WhatIf what_if;
  what_if.batch_factor = 2;
  EXPECT_DOUBLE_EQ(step_of(changed(steps, what_if), {1, 1}), 20 + 200 + 20 + 5);
  EXPECT_DOUBLE_EQ(changed(steps, what_if).samples_per_rank, 16);
  what_if = {};
  what_if.compute_speed = 5;
  EXPECT_DOUBLE_EQ(step_of(changed(steps, what_if), {1, 1}), 10 + 20 + 20 + 1);
  what_if = {};
  what_if.without_data_wait = what_if.without_host = true;
  EXPECT_DOUBLE_EQ(step_of(changed(steps, what_if), {1, 1}), 105);
}

TEST(WhatIf, WithoutStragglersTheSlowRankIsAsFastAsTheMedianOne) {
  const auto steps =
      recording({1, 3}, {two_buckets(100, 50, 10), two_buckets(130, 65, 13), two_buckets(100, 50, 10)}, {1, 1});
  EXPECT_DOUBLE_EQ(step_of(steps, {1, 3}), 130 + 65 + 1 + 13);
  WhatIf what_if;
  what_if.without_stragglers = true;
  EXPECT_NEAR(step_of(changed(steps, what_if), {1, 3}), 100 + 50 + 1 + 10, 1e-9);
}

TEST(WhatIf, AccumulatedGradientsAreReadyInTheLastMicroBatch) {
  const auto steps = recording({1, 1}, {two_buckets(100, 100, 7)}, {150, 10});
  WhatIf what_if;
  what_if.accumulate = 4;
  // 150 of earlier micro-batches, 25, then the bucket over 175..325, the other until 335.
  EXPECT_DOUBLE_EQ(step_of(changed(steps, what_if), {1, 1}), 342);
}

TEST(WhatIf, HalfTheBytesTakeTheTimeToConvertThem) {
  auto steps = recording({1, 2}, {two_buckets(100, 50, 7), two_buckets(100, 50, 7)},
                         {50, 60});  // of 1,000 and 2,000 bytes
  steps.conversion = HalfConversion{0.01, 0.02};
  WhatIf what_if;
  what_if.half_gradients = true;
  const StepRecording half = changed(steps, what_if);
  EXPECT_DOUBLE_EQ(half.collectives[0].bytes, 500);
  EXPECT_DOUBLE_EQ(half.collectives[1].bytes, 1000);
  // Narrowed until 110 and 180, sent over 110..135 and 180..210, all widened until 270.
  EXPECT_DOUBLE_EQ(step_of(half, {1, 2}, {25, 30}), 277);
  steps.conversion = HalfConversion{};
  EXPECT_DOUBLE_EQ(step_of(changed(steps, what_if), {1, 2}, {25, 30}), 187);
  // Waits that an optimizer in parts has in between.
  auto parts = steps;
  parts.conversion = HalfConversion{0, 0.02};
  for (RankStep& rank : parts.steps[0].ranks)
    rank.events = {work(100),
                   issue(0),
                   issue(1),
                   wait(0),
                   work(3, WorkKind::kOptimizer),
                   wait(0),
                   wait(1),
                   work(4, WorkKind::kOptimizer)};
  EXPECT_DOUBLE_EQ(step_of(changed(parts, what_if), {1, 2}, {25, 30}), 155 + 60 + 4);
}

TEST(WhatIf, HalfTheBytesAreRefusedWhereTheTimeToConvertIsNotKnown) {
  const auto steps = recording({1, 2}, {two_buckets(1, 1, 1), two_buckets(1, 1, 1)}, {1, 1});
  WhatIf what_if;
  what_if.half_gradients = true;
  EXPECT_THROW(changed(steps, what_if), Error);
  RunCase run_case;
  EXPECT_EQ(why_not_halved(steps, "ddp", run_case), steps.conversion.reason());
  auto measured = steps;
  measured.conversion = HalfConversion{};
  EXPECT_EQ(why_not_halved(measured, "ddp", run_case), "");
  EXPECT_EQ(why_not_halved(measured, "zero1", run_case), "strategy zero1 has no hook");
  run_case.strategy_options = {{"hook", "bf16"}};
  EXPECT_EQ(why_not_halved(measured, "ddp", run_case), "the run itself had the hook bf16");
}

TEST(WhatIf, IdealOverlapLeavesTheLastBucketOrWhatTheBackwardPassCannotHide) {
  // 50 ns forward, 100 backward, and only then four buckets, as without overlap.
  const std::vector<double> bytes = {1000, 3000, 2000, 4000};
  for (const double per_kilobyte : {1.0, 5.0, 10.0, 40.0}) {
    RankStep step;
    step.events = {work(50, WorkKind::kData),
                   work(150),
                   issue(0),
                   issue(1),
                   issue(2),
                   issue(3),
                   wait(0),
                   wait(1),
                   wait(2),
                   wait(3),
                   work(7, WorkKind::kOptimizer)};
    step.backward_ns = 100;
    step.start_delay_ns = {20, 20, 20, 20};
    step.end_share = {1, 1, 1, 1};
    std::vector<double> transfers;
    for (const double size : bytes) transfers.push_back(size / 1000 * per_kilobyte);
    auto steps = recording({1, 2}, {step, step}, transfers);
    for (std::size_t i = 0; i < bytes.size(); ++i) steps.collectives[i].bytes = bytes[i];
    WhatIf what_if;
    what_if.ideal_overlap = true;
    // Buckets are ready at 110, 140, 160 and 200: the lane is a queue.
    double lane = 0;
    double ready = 100;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      ready += bytes[i] / 100;
      lane = std::max(lane, ready) + transfers[i];
    }
    EXPECT_NEAR(step_of(changed(steps, what_if), {1, 2}, transfers), lane + 7, 1e-6) << per_kilobyte;
    EXPECT_GE(lane - 200 + 1e-9, std::max(transfers.back(), 10 * per_kilobyte - 90))
        << "last bucket, or communication less what is hidden";
  }
  // Buckets that overlap already keep their places; only the delays go.
  auto overlapped = recording({1, 2}, {two_buckets(100, 50, 7), two_buckets(100, 50, 7)}, {50, 60});
  for (RankStep& rank : overlapped.steps[0].ranks) {
    rank.backward_ns = 100;
    rank.start_delay_ns = {30, 0};
  }
  WhatIf what_if;
  what_if.ideal_overlap = true;
  EXPECT_DOUBLE_EQ(step_of(changed(overlapped, what_if)), 217);
}

TEST(WhatIf, NonsenseIsRefused) {
  const auto steps = recording({1, 1}, {two_buckets(1, 1, 1)}, {1, 1});
  WhatIf what_if;
  what_if.batch_factor = 0;
  EXPECT_THROW(changed(steps, what_if), Error);
  what_if = {};
  what_if.bucket_bytes = -1;
  EXPECT_THROW(changed(steps, what_if), Error);
  auto without = steps;
  for (auto& collective : without.collectives) collective.bucket = -1;
  what_if.bucket_bytes = 1000;
  EXPECT_THROW(changed(without, what_if), Error);
}

}  // namespace
}  // namespace ddbench::analyzer
