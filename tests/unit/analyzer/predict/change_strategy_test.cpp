#include "analyzer/predict/change_strategy.h"

#include <gtest/gtest.h>

#include <vector>

#include "analyzer/predict/predict_run.h"
#include "analyzer/predict/replay.h"
#include "core/error.h"
#include "step_events.h"

namespace ddbench::analyzer {
namespace {

StepRecording of_ddp() {
  StepRecording steps = recording({1, 2}, {two_buckets(100, 50, 40), two_buckets(100, 50, 40)}, {50, 60});
  steps.strategy = "ddp";
  for (RankStep& rank : steps.steps[0].ranks) rank.duration_ns = 250;
  return steps;
}

/// A collective of n bytes takes n ns, whatever it is.
double step_ns(const StepRecording& steps) {
  std::vector<double> transfers;
  for (const StepCollective& collective : steps.collectives) transfers.push_back(collective.bytes);
  const ReplaySchedule schedule{1, {0}};
  return replay(steps, steps.shape, schedule, transfers).step_ns;
}

TEST(ChangeStrategy, ZeroReduceScattersAndGathersAfterASharedOptimizer) {
  const StepRecording zero = with_strategy(of_ddp(), "zero1", 2);
  ASSERT_EQ(zero.collectives.size(), 4U);
  EXPECT_EQ(zero.collectives[0].function, "reduce_scatter");
  EXPECT_EQ(zero.collectives[3].function, "all_gather");
  EXPECT_EQ(zero.collectives[3].bucket, zero.collectives[1].bucket);
  // Buckets of 1,000 and 2,000: 100..1100..3100, half of the optimizer, 1,000 and 2,000 gathered.
  EXPECT_DOUBLE_EQ(step_ns(zero), 3100 + 20 + 3000);
  EXPECT_DOUBLE_EQ(step_ns(of_ddp()), 3100 + 40);
}

TEST(ChangeStrategy, ThereAndBackIsTheSame) {
  StepRecording zero = with_strategy(of_ddp(), "zero2", 2);
  EXPECT_TRUE(zero.steps[0].transfer_ns.empty());
  const StepRecording back = with_strategy(zero, "ddp", 2);
  ASSERT_EQ(back.collectives.size(), 2U);
  EXPECT_EQ(back.collectives[1].function, "all_reduce");
  EXPECT_DOUBLE_EQ(step_ns(back), step_ns(of_ddp()));
}

TEST(ChangeStrategy, ZerosOptimizerSharesWithAllRanks) {
  StepRecording zero = with_strategy(of_ddp(), "zero1", 2);
  zero.shape = {1, 2};
  EXPECT_DOUBLE_EQ(step_ns(with_strategy(zero, "zero1", 20)), 3100 + 2 + 3000);
  EXPECT_DOUBLE_EQ(step_ns(with_strategy(of_ddp(), "ddp", 20)), 3140);
}

TEST(ChangeStrategy, MirroredReducesAllGradientsAfterTheLastOne) {
  for (const StepRecording& from : {of_ddp(), with_strategy(of_ddp(), "zero1", 2)}) {
    const StepRecording mirrored = with_strategy(from, "mirrored", 2);
    ASSERT_EQ(mirrored.collectives.size(), 1U);
    EXPECT_EQ(mirrored.collectives[0].function, "all_reduce");
    EXPECT_DOUBLE_EQ(mirrored.collectives[0].bytes, 3000);
    EXPECT_DOUBLE_EQ(step_ns(mirrored), 150 + 3000 + 40);
    EXPECT_EQ(mirrored.strategy, "mirrored");
    EXPECT_THROW(with_strategy(mirrored, "ddp", 2), Error);
  }
}

TEST(ChangeStrategy, OthersAreRefused) {
  EXPECT_THROW(with_strategy(of_ddp(), "ps", 2), Error);
  StepRecording without = of_ddp();
  for (StepCollective& collective : without.collectives) collective.bucket = -1;
  EXPECT_THROW(with_strategy(without, "zero1", 2), Error);
  EXPECT_NO_THROW(with_strategy(without, "ddp", 2));
}

TEST(ChangeStrategy, Zero3KeepsItsStepsButForTheShareOfTheOptimizer) {
  StepRecording recording = of_ddp();
  recording.strategy = "zero3";
  recording.shape = {1, 2};
  EXPECT_DOUBLE_EQ(step_ns(with_strategy(recording, "zero3", 20)), 3100 + 4);
  for (const char* other : {"ddp", "zero2", "mirrored"}) {
    EXPECT_THROW(with_strategy(recording, other, 2), Error) << other;
    EXPECT_THROW(with_strategy(of_ddp(), "zero3", 2), Error);
  }
  WhatIf buckets;
  buckets.bucket_bytes = 100;
  EXPECT_THROW(changed(recording, buckets), Error);
  EXPECT_EQ(why_not_changed(of_ddp(), buckets), "");
  EXPECT_TRUE(why_not_changed(recording, buckets).find("--bucket-mb") != std::string::npos);
  WhatIf faster;
  faster.compute_speed = 2;
  EXPECT_NO_THROW(changed(recording, faster));
}

TEST(ChangeStrategy, PredictionsUseIt) {
  CollectiveCosts costs;
  costs.set_link({1e9, 0.0});
  PredictOptions options;
  options.what_if.strategy = "zero1";
  const auto zero = predict_step(of_ddp(), costs, {2, 1}, options);
  ASSERT_TRUE(zero) << zero.reason();
  // Halves of 1,000 and 2,000 bytes at 1 byte/ns, twice.
  EXPECT_NEAR(zero->step_ns.value, 100 + 500 + 1000 + 20 + 500 + 1000, 1e-6);
}

}  // namespace
}  // namespace ddbench::analyzer
