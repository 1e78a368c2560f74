// Ranks of a program whose steps are known, and found.
#include "analyzer/program/program_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ddbench::analyzer {
namespace {

enum Name : std::uint32_t { kAllReduce, kBroadcast, kBlas, kFileOpened };

Span span_of(SpanKind kind, Name name, std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t bytes = 0,
             std::uint64_t sequence = 0) {
  Span span;
  span.kind = kind;
  span.name_id = name;
  span.begin_ns = begin_ns;
  span.end_ns = end_ns;
  span.bytes = bytes;
  if (sequence > 0) span.correlation = collective_key(1, sequence);
  return span;
}

/// Of `steps` steps of 1000 ns after a start of 500 ns: compute [100,600), all_reduce of 8 bytes [400,700)
/// and of 16 bytes [700,900). The second rank's clock is `offset_ns` ahead.
ProgramRank rank_of(int steps, std::int64_t offset_ns = 0) {
  ProgramRank rank;
  rank.names = {"all_reduce", "broadcast", "blas", std::string(kFileOpenedName)};
  std::uint64_t sequence = 1;
  rank.spans.push_back(
      span_of(SpanKind::kCommunication, kBroadcast, offset_ns, offset_ns + 100, 999, sequence++));
  for (int step = 0; step < steps; ++step) {
    const std::int64_t at = offset_ns + 500 + 1000 * step;
    rank.spans.push_back(span_of(SpanKind::kCompute, kBlas, at + 100, at + 600));
    rank.spans.push_back(span_of(SpanKind::kCommunication, kAllReduce, at + 400, at + 700, 8, sequence++));
    rank.spans.push_back(span_of(SpanKind::kCommunication, kAllReduce, at + 700, at + 900, 16, sequence++));
  }
  return rank;
}

std::vector<Span> steps_of(const ProgramRank& rank) {
  std::vector<Span> steps;
  std::copy_if(rank.spans.begin(), rank.spans.end(), std::back_inserter(steps),
               [](const Span& span) { return span.kind == SpanKind::kStep; });
  return steps;
}

TEST(ProgramSteps, EndWithTheirLastCollectiveOnEachRanksOwnClock) {
  std::vector<ProgramRank> ranks = {rank_of(10), rank_of(10, 77'000)};
  const ProgramSteps found = assign_program_steps(ranks, 2);
  EXPECT_EQ(found.source, StepSource::kPattern);
  EXPECT_EQ(found.steps, 10u);
  EXPECT_EQ(found.pattern, "2 collectives a step: all_reduce 8 B, all_reduce 16 B");
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const std::vector<Span> steps = steps_of(ranks[rank]);
    ASSERT_EQ(steps.size(), 10u);
    const std::int64_t offset_ns = rank == 0 ? 0 : 77'000;
    EXPECT_EQ(steps[0].begin_ns, offset_ns + 100) << "the first begins where the broadcast before it ended";
    for (std::uint32_t k = 0; k < 10; ++k) {
      EXPECT_EQ(steps[k].step, k);
      EXPECT_EQ(steps[k].end_ns, offset_ns + 500 + 1000 * k + 900);
      if (k > 0) {
        EXPECT_EQ(steps[k].begin_ns, steps[k - 1].end_ns);
      }
    }
  }
}

TEST(ProgramSteps, SpansBelongToTheStepInWhichTheyBegin) {
  std::vector<ProgramRank> ranks = {rank_of(6)};
  assign_program_steps(ranks, 0);
  EXPECT_TRUE(std::is_sorted(ranks[0].spans.begin(), ranks[0].spans.end(),
                             [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; }));
  for (const Span& span : ranks[0].spans) {
    if (span.kind == SpanKind::kHost || span.kind == SpanKind::kStep) continue;
    if (span.name_id == kBroadcast) {
      EXPECT_EQ(span.step, kNoStep);
    } else {
      EXPECT_EQ(span.step, static_cast<std::uint32_t>((span.begin_ns - 500) / 1000));
    }
  }
}

TEST(ProgramSteps, TheOrderInWhichThreadsRecordDoesNotMatter) {
  std::vector<ProgramRank> ranks = {rank_of(12)};
  std::shuffle(ranks[0].spans.begin(), ranks[0].spans.end(), std::mt19937(3));
  EXPECT_EQ(assign_program_steps(ranks, 0).steps, 12u);
}

constexpr std::int64_t kPauseBegin_ns = 500 + 11 * 1000;

/// Two ranks of 20 steps that both come to their twelfth 50,000 ns late.
std::vector<ProgramRank> ranks_with_a_pause() {
  std::vector<ProgramRank> ranks = {rank_of(20), rank_of(20)};
  for (ProgramRank& rank : ranks) {
    for (Span& span : rank.spans) {
      if (span.begin_ns < kPauseBegin_ns) continue;
      span.begin_ns += 50'000;
      span.end_ns += 50'000;
    }
  }
  return ranks;
}

TEST(ProgramSteps, AStepThatHoldsAnEvaluationIsLeftOut) {
  std::vector<ProgramRank> ranks = ranks_with_a_pause();
  ranks[0].spans.push_back(
      span_of(SpanKind::kCompute, kBlas, kPauseBegin_ns + 1000, kPauseBegin_ns + 40'000));
  const ProgramSteps found = assign_program_steps(ranks, 0);
  EXPECT_EQ(found.steps, 19u);
  EXPECT_EQ(found.outside_ns, 51'000);
  EXPECT_EQ(steps_of(ranks[0]).back().step, 18u);
}

TEST(ProgramSteps, AStepThatHoldsACheckpointIsLeftOut) {
  std::vector<ProgramRank> ranks = ranks_with_a_pause();
  const std::int64_t at_ns = kPauseBegin_ns + 2000;
  ranks[0].spans.push_back(span_of(SpanKind::kHost, kFileOpened, at_ns, at_ns));
  const ProgramSteps found = assign_program_steps(ranks, 0);
  EXPECT_EQ(found.steps, 19u);
  EXPECT_EQ(found.outside_ns, 51'000);
}

TEST(ProgramSteps, AShortCheckpointIsOne) {
  std::vector<ProgramRank> ranks = {rank_of(20), rank_of(20)};
  ranks[0].spans.push_back(span_of(SpanKind::kHost, kFileOpened, kPauseBegin_ns + 10, kPauseBegin_ns + 10));
  EXPECT_EQ(assign_program_steps(ranks, 0).steps, 19u);
}

TEST(ProgramSteps, ASlowStepStaysOne) {
  std::vector<ProgramRank> ranks = ranks_with_a_pause();
  const ProgramSteps found = assign_program_steps(ranks, 0);
  EXPECT_EQ(found.steps, 20u);
  EXPECT_EQ(found.outside_ns, 0);
  EXPECT_EQ(steps_of(ranks[0])[11].duration_ns(), 51'000);
}

TEST(ProgramSteps, AFileThatIsOpenedInEachStepShowsNoCheckpoint) {
  std::vector<ProgramRank> ranks = ranks_with_a_pause();
  for (const Span& step : rank_of(20).spans) {
    if (step.kind != SpanKind::kCompute) continue;
    const std::int64_t at_ns = step.begin_ns + (step.begin_ns < kPauseBegin_ns ? 0 : 50'000);
    ranks[0].spans.push_back(span_of(SpanKind::kHost, kFileOpened, at_ns, at_ns));
  }
  EXPECT_EQ(assign_program_steps(ranks, 0).steps, 20u);
}

TEST(ProgramSteps, ACollectiveThatARankDidNotRecordCostsItsStepsOnAllRanks) {
  std::vector<ProgramRank> ranks = {rank_of(10), rank_of(10)};
  std::erase_if(ranks[1].spans, [](const Span& span) { return span.correlation == collective_key(1, 9); });
  // It is the last of step 3, whose end begins step 4.
  EXPECT_EQ(assign_program_steps(ranks, 0).steps, 8u);
  EXPECT_EQ(steps_of(ranks[0]).size(), 8u);
  EXPECT_EQ(steps_of(ranks[1]).size(), 8u);
}

TEST(ProgramSteps, MarkedStepsWin) {
  std::vector<ProgramRank> ranks = {rank_of(10), rank_of(10)};
  for (int k = 0; k < 3; ++k) {
    for (ProgramRank& rank : ranks) {
      rank.spans.push_back(span_of(SpanKind::kStep, kBlas, 1000 * (k + 1), 1000 * (k + 2)));
    }
  }
  ranks[1].spans.pop_back();  // it was stopped before its last mark
  const ProgramSteps found = assign_program_steps(ranks, 0);
  EXPECT_EQ(found.source, StepSource::kMarker);
  EXPECT_EQ(found.steps, 2u);
  EXPECT_EQ(steps_of(ranks[0])[1].begin_ns, 2000);
}

TEST(ProgramSteps, WithoutAPatternTheWholeWindowIsOneMeasuredStep) {
  std::vector<ProgramRank> ranks = {rank_of(1), rank_of(1)};
  const ProgramSteps found = assign_program_steps(ranks, 5);
  EXPECT_EQ(found.source, StepSource::kWindow);
  EXPECT_EQ(found.steps, 1u);
  const std::vector<Span> steps = steps_of(ranks[0]);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].step, 5u);
  EXPECT_EQ(steps[0].begin_ns, 0);
  EXPECT_EQ(steps[0].end_ns, 1400);
}

TEST(ProgramSteps, ARankThatRecordedNothingHasNone) {
  std::vector<ProgramRank> ranks = {{}, {}};
  EXPECT_EQ(assign_program_steps(ranks, 5).steps, 0u);
  EXPECT_TRUE(ranks[0].spans.empty());
}

TEST(ProgramSteps, WhereOneRankRecordedNothingNoStepOfTheOthersIsWhole) {
  std::vector<ProgramRank> ranks = {rank_of(10), {}};
  EXPECT_EQ(assign_program_steps(ranks, 5).source, StepSource::kWindow);
  EXPECT_EQ(steps_of(ranks[0]).size(), 1u);
  EXPECT_TRUE(steps_of(ranks[1]).empty());
}

}  // namespace
}  // namespace ddbench::analyzer
