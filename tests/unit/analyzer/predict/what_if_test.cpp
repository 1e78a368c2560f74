#include "analyzer/predict/what_if.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "step_events.h"

namespace ddbench::analyzer {
namespace {

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

TEST(WhatIf, KnownGradientsStayWhole) {
  const double megabyte = 1 << 20;
  auto steps = recording({1, 1}, {two_buckets(100, 60, 7)}, {50, 60});
  steps.collectives[0].bytes = steps.collectives[1].bytes = megabyte;
  steps.gradient_bytes = {0.75 * megabyte, 0.25 * megabyte, megabyte};
  WhatIf what_if;
  what_if.bucket_bytes = megabyte / 2;
  const auto sizes = [&] {
    std::vector<double> megabytes;
    for (const StepCollective& one : changed(steps, what_if).collectives) megabytes.push_back(one.bytes / megabyte);
    return megabytes;
  };
  EXPECT_EQ(sizes(), (std::vector<double>{0.75, 1.25}));
  // Ready at 75 and 160: over 75..115 and 160..200.
  EXPECT_DOUBLE_EQ(step_of(changed(steps, what_if), {2, 1}, {40, 40}), 207);
  what_if.bucket_bytes = megabyte;
  EXPECT_EQ(sizes(), (std::vector<double>{1, 1}));
  what_if.bucket_bytes = 4 * megabyte;  // the first one holds 1 MiB
  EXPECT_EQ(sizes(), (std::vector<double>{1, 1}));
  // Half of the bytes are on the wire.
  steps.collectives[0].bytes = steps.collectives[1].bytes = megabyte / 2;
  what_if.bucket_bytes = megabyte / 2;
  EXPECT_EQ(sizes(), (std::vector<double>{0.375, 0.625}));
  // These do not fill the recorded buckets: parts are even.
  steps.gradient_bytes = {0.5 * megabyte, megabyte, 0.5 * megabyte};
  EXPECT_EQ(sizes(), (std::vector<double>{0.5, 0.5}));
}

TEST(WhatIf, ShardsOfKnownGradientsArePadded) {
  auto steps = recording({2, 4}, {two_buckets(100, 60, 7)}, {50, 60});
  steps.collectives[0] = {"reduce_scatter", 1024, 0};
  steps.collectives[1] = {"reduce_scatter", 2048, 1};
  steps.gradient_bytes = {600, 400, 2040};
  WhatIf what_if;
  what_if.bucket_bytes = 500;
  const StepRecording changed_steps = changed(steps, what_if);
  ASSERT_EQ(changed_steps.collectives.size(), 2U);  // 600, and 400 with 2040
  EXPECT_DOUBLE_EQ(changed_steps.collectives[0].bytes, 1024 * 0.6);
  EXPECT_DOUBLE_EQ(changed_steps.collectives[1].bytes, 2048 + 1024 * 0.4);
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

TEST(WhatIf, WhatKernelsTakeAtTheLeastDoesNotScale) {
  RankStep step;
  step.events = {work(100), work(20, WorkKind::kHost)};
  step.events[0].fixed_ns = 30;
  const auto steps = recording({1, 1}, {step}, {});
  const auto ns_with = [&](auto&& change) {
    WhatIf what_if;
    change(what_if);
    return step_of(changed(steps, what_if), {1, 1});
  };
  EXPECT_DOUBLE_EQ(ns_with([](WhatIf&) {}), 120);
  EXPECT_DOUBLE_EQ(ns_with([](WhatIf& w) { w.batch_factor = 2; }), 30 + 140 + 20);
  EXPECT_DOUBLE_EQ(ns_with([](WhatIf& w) { w.batch_factor = 0.5; }), 30 + 35 + 20);
  EXPECT_DOUBLE_EQ(ns_with([](WhatIf& w) { w.compute_speed = 2; }), 30 + 35 + 20);
  // As many kernels in each of the micro-batches, which share the rest.
  EXPECT_DOUBLE_EQ(ns_with([](WhatIf& w) { w.accumulate = 7; }), 7 * 30 + 70 + 20);
}

TEST(WhatIf, TheHostLaunchesEachMicroBatch) {
  RankStep step;
  step.events = {work(50), work(40, WorkKind::kHost), work(50), work(20, WorkKind::kHost), work(5, WorkKind::kOptimizer)};
  const auto steps = recording({1, 1}, {step}, {});
  WhatIf what_if;
  what_if.accumulate = 4;
  EXPECT_DOUBLE_EQ(step_of(changed(steps, what_if), {1, 1}), 100 + 4 * 40 + 20 + 5);
  what_if.without_host = true;
  EXPECT_DOUBLE_EQ(step_of(changed(steps, what_if), {1, 1}), 100 + 5);
}

TEST(WhatIf, AStragglerIsAsFastAsTheMedianRankWithTheOtherBatch) {
  RankStep usual, slow;
  usual.events = {work(100)};
  slow.events = {work(170)};
  usual.events[0].fixed_ns = slow.events[0].fixed_ns = 30;
  WhatIf what_if;
  what_if.batch_factor = 4;
  what_if.without_stragglers = true;
  EXPECT_DOUBLE_EQ(step_of(changed(recording({1, 2}, {usual, slow}, {}), what_if), {1, 2}), 30 + 4 * 70);
}

TEST(WhatIf, SplitWorkSharesItsKernels) {
  StepEvent event = work(100);
  event.fixed_ns = 30;
  const StepEvent part = split_off(event, 40);
  EXPECT_DOUBLE_EQ(part.ns, 40);
  EXPECT_DOUBLE_EQ(part.fixed_ns, 12);
  EXPECT_DOUBLE_EQ(event.ns, 60);
  EXPECT_DOUBLE_EQ(event.fixed_ns, 18);
  EXPECT_DOUBLE_EQ(split_off(event, 1000).ns, 60);
  EXPECT_DOUBLE_EQ(event.fixed_ns, 0);
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
