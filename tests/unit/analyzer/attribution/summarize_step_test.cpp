#include "analyzer/attribution/summarize_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "analyzer/attribution/partition.h"

namespace ddbench::analyzer {
namespace {

using store::StepPart;

constexpr std::uint32_t kStepNumber = 5;
constexpr std::uint32_t kReducedId = 77;
constexpr std::int64_t kBegin_ns = 1'000'000;
constexpr std::int64_t kEnd_ns = 1'000'400;

Span step_span(SpanKind kind, std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t correlation = 0) {
  return {.begin_ns = begin_ns,
          .end_ns = end_ns,
          .correlation = correlation,
          .name_id = 3,
          .step = kStepNumber,
          .kind = kind};
}

/// A step with spans of every kind at random places, and collectives that may reach over its ends.
class RandomStep {
 public:
  explicit RandomStep(unsigned seed) : generator_(seed) {
    spans = {step_span(SpanKind::kStep, kBegin_ns, kEnd_ns)};
    const std::int64_t count = between(0, 60);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t begin_ns = between(kBegin_ns, kEnd_ns);
      const auto kind = static_cast<SpanKind>(between(1, kSpanKindCount - 1));
      const bool is_collective = kind == SpanKind::kCommunication || kind == SpanKind::kNcclEvent;
      if (is_collective && between(0, 2) != 0) continue;
      const std::int64_t latest_ns = is_collective ? kEnd_ns + 20 : kEnd_ns;
      spans.push_back(step_span(kind, is_collective ? begin_ns - 20 : begin_ns,
                                std::min(begin_ns + between(0, 60), latest_ns),
                                static_cast<std::uint64_t>(between(0, 5))));
    }
    for (std::uint64_t key = 0; key < 6; ++key) {
      if (between(0, 2) != 0) arrivals[key] = between(kBegin_ns - 50, kEnd_ns + 50);
    }
  }

  std::vector<Span> spans;
  LastArrivals arrivals;

 private:
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(generator_);
  }
  std::mt19937 generator_;
};

PartitionedStep partition(const std::vector<Span>& spans, const LastArrivals& arrivals = {}) {
  return partition_step(spans, kBegin_ns, kEnd_ns, arrivals);
}

std::int64_t exposed_ns(const PartitionedStep& step) {
  return step.partition[StepPart::kExposedTransfer] + step.partition[StepPart::kExposedPeerWait];
}

std::size_t pieces_in(const std::vector<Span>& reduced) {
  return static_cast<std::size_t>(std::count_if(reduced.begin(), reduced.end(),
                                                [](const Span& span) { return span.name_id == kReducedId; }));
}

TEST(SummarizeStep, LeavesThePartitionAsItWasWhateverTheArrivals) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    const RandomStep step(seed);
    const auto reduced = summarize_step(step.spans, {}, kReducedId, 1000);
    ASSERT_TRUE(reduced) << seed;
    const PartitionedStep before = partition(step.spans, step.arrivals);
    const PartitionedStep after = partition(*reduced, step.arrivals);
    ASSERT_EQ(after.partition.ns, before.partition.ns) << seed;
    ASSERT_EQ(after.communication_ns, before.communication_ns) << seed;
    ASSERT_EQ(after.overlap_ns, before.overlap_ns) << seed;
    ASSERT_EQ(after.peer_wait_ns, before.peer_wait_ns) << seed;
  }
}

TEST(SummarizeStep, WithoutGapsOnlyTheShareOfWaitInExposedTimeMayMove) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    const RandomStep step(seed);
    const auto reduced = summarize_step(step.spans, {}, kReducedId, 0);
    ASSERT_TRUE(reduced) << seed;
    const PartitionedStep before = partition(step.spans, step.arrivals);
    const PartitionedStep after = partition(*reduced, step.arrivals);
    ASSERT_EQ(exposed_ns(after), exposed_ns(before)) << seed;
    ASSERT_EQ(after.overlap_ns, before.overlap_ns) << seed;
    for (const StepPart part :
         {StepPart::kForward, StepPart::kBackward, StepPart::kOptimizer, StepPart::kOtherCompute,
          StepPart::kCopy, StepPart::kDataWait, StepPart::kHost, StepPart::kIdle}) {
      ASSERT_EQ(after.partition[part], before.partition[part]) << seed;
    }
  }
}

/// Many short operators with 2 ns between them, some of them beside a collective.
std::vector<Span> step_of_operators() {
  std::vector<Span> spans = {step_span(SpanKind::kStep, kBegin_ns, kEnd_ns),
                             step_span(SpanKind::kHost, kBegin_ns, kEnd_ns),
                             step_span(SpanKind::kCommunication, kBegin_ns + 205, kEnd_ns - 50, 1)};
  for (std::int64_t at_ns = kBegin_ns; at_ns < kBegin_ns + 300; at_ns += 10) {
    spans.push_back(
        step_span(at_ns < kBegin_ns + 150 ? SpanKind::kForward : SpanKind::kBackward, at_ns, at_ns + 8));
  }
  return spans;
}

TEST(SummarizeStep, ManyOperatorsBecomeFewSpans) {
  const std::vector<Span> spans = step_of_operators();
  const auto reduced = summarize_step(spans, {}, kReducedId, 0);
  ASSERT_TRUE(reduced);
  // Forward, backward and host before the collective, backward beside it, host after it.
  EXPECT_EQ(pieces_in(*reduced), 5U);
  EXPECT_EQ(reduced->size(), 7U) << "the step and its collective stay";
  const PartitionedStep after = partition(*reduced);
  EXPECT_EQ(after.partition[StepPart::kForward], 15 * 8);
  EXPECT_EQ(after.partition.ns, partition(spans).partition.ns);
  for (const Span& span : *reduced) EXPECT_EQ(span.step, kStepNumber);
}

TEST(SummarizeStep, MovedGapsShiftNoMoreThanTheirSumBetweenWaitAndTransfer) {
  const std::vector<Span> spans = step_of_operators();
  const auto gaps_of_two = 9;
  for (const std::size_t most_gaps : {0, 3, 1000}) {
    const auto reduced = summarize_step(spans, {}, kReducedId, most_gaps);
    for (std::int64_t arrival_ns = kBegin_ns + 205; arrival_ns < kEnd_ns; ++arrival_ns) {
      const LastArrivals arrivals = {{1, arrival_ns}};
      const std::int64_t moved_ns =
          std::abs(partition(*reduced, arrivals).partition[StepPart::kExposedPeerWait] -
                   partition(spans, arrivals).partition[StepPart::kExposedPeerWait]);
      ASSERT_LE(moved_ns, most_gaps == 1000 ? 0 : 2 * gaps_of_two) << most_gaps;
    }
  }
}

TEST(SummarizeStep, TheLongestGapsStayWhereTheyAre) {
  std::vector<Span> spans = {step_span(SpanKind::kStep, kBegin_ns, kEnd_ns),
                             step_span(SpanKind::kCommunication, kBegin_ns, kEnd_ns, 1)};
  for (const std::int64_t begin_ns : {10, 31, 52, 150, 171}) {
    spans.push_back(step_span(SpanKind::kBackward, kBegin_ns + begin_ns, kBegin_ns + begin_ns + 20));
  }
  const auto reduced = summarize_step(spans, {}, kReducedId, 1);
  ASSERT_EQ(pieces_in(*reduced), 2U);
  const Span& first = (*reduced)[reduced->size() - 2];
  const Span& second = reduced->back();
  EXPECT_EQ(first.begin_ns - kBegin_ns, 10);
  EXPECT_EQ(first.end_ns - kBegin_ns, 70) << "60 ns of compute, and 2 ns of gaps behind them";
  EXPECT_EQ(second.begin_ns - kBegin_ns, 150);
  EXPECT_EQ(second.end_ns - kBegin_ns, 190);
}

TEST(SummarizeStep, CollectivesOfOtherStepsCutItToo) {
  const std::vector<Span> spans = {step_span(SpanKind::kStep, kBegin_ns, kEnd_ns),
                                   step_span(SpanKind::kHost, kBegin_ns, kEnd_ns),
                                   step_span(SpanKind::kForward, kBegin_ns + 90, kBegin_ns + 200)};
  std::vector<Span> all = spans;
  all.push_back(step_span(SpanKind::kCommunication, kBegin_ns - 100, kBegin_ns + 100, 9));
  std::vector<Span> reduced = *summarize_step(spans, std::span(all).last(1), kReducedId);
  reduced.push_back(all.back());
  EXPECT_EQ(partition(reduced).partition.ns, partition(all).partition.ns);
  EXPECT_EQ(partition(reduced).overlap_ns, 10);
}

TEST(SummarizeStep, WhatReachesOverTheStepIsNotReduced) {
  const Span step = step_span(SpanKind::kStep, kBegin_ns, kEnd_ns);
  const std::vector<Span> over = {step, step_span(SpanKind::kForward, kEnd_ns - 1, kEnd_ns + 1)};
  EXPECT_FALSE(summarize_step(over, {}, kReducedId));
  const std::vector<Span> backwards = {step, step_span(SpanKind::kForward, kEnd_ns - 1, kEnd_ns - 2)};
  EXPECT_FALSE(summarize_step(backwards, {}, kReducedId));
  const std::vector<Span> others = {step_span(SpanKind::kCopy, kBegin_ns - 5, kBegin_ns + 5)};
  EXPECT_FALSE(summarize_step(std::span(&step, 1), others, kReducedId));
  EXPECT_FALSE(summarize_step({}, {}, kReducedId));
  const std::vector<Span> twice = {step, step};
  EXPECT_FALSE(summarize_step(twice, {}, kReducedId));
  EXPECT_EQ(summarize_step(std::span(&step, 1), {}, kReducedId)->size(), 1U);
}

}  // namespace
}  // namespace ddbench::analyzer
