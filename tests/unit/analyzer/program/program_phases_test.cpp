// Loops whose phases are known, as marks say them.
#include "analyzer/program/program_phases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>

#include "analyzer/program/program_steps.h"
#include "core/span_limits.h"

namespace ddbench::analyzer {
namespace {

constexpr std::uint64_t kTrain = 7;
constexpr std::uint64_t kEvaluate = 8;
constexpr std::uint64_t kOptimizer = 9;

/// Writes marks and operators at a clock that it moves on.
class Loop {
 public:
  Loop() {
    rank_.names.assign(kPhaseNames.begin(), kPhaseNames.end());
    rank_.names.emplace_back("aten::mm");
  }
  Loop& wait(std::int64_t ns) {
    at_ns_ += ns;
    return *this;
  }
  Loop& mark(ProgramPhase phase, std::int64_t ns, std::uint64_t samples = 0, std::uint64_t loop = 0) {
    Span span;
    span.begin_ns = at_ns_;
    span.end_ns = at_ns_ + ns;
    span.name_id = static_cast<std::uint32_t>(phase);
    span.bytes = samples;
    span.correlation = loop;
    rank_.spans.push_back(span);
    return wait(ns);
  }
  /// Works from now on, without moving the clock.
  Loop& compute(std::int64_t ns) {
    Span span;
    span.kind = SpanKind::kCompute;
    span.begin_ns = at_ns_;
    span.end_ns = at_ns_ + ns;
    span.name_id = static_cast<std::uint32_t>(rank_.names.size() - 1);
    rank_.spans.push_back(span);
    return *this;
  }
  /// 100 ns of data, 200 of forward, 300 of backward, 50 of the optimizer, 10 of something else.
  Loop& step() {
    compute(40).mark(ProgramPhase::kData, 100, 32, kTrain);
    compute(150).wait(200);
    compute(250).mark(ProgramPhase::kBackward, 300);
    compute(50).mark(ProgramPhase::kOptimizer, 50, 0, kOptimizer);
    return wait(10);
  }
  ProgramRank rank_;
  std::int64_t at_ns_ = 1000;
};

std::vector<PhaseMark> marks_of(Loop loop) {
  return take_phase_marks(loop.rank_);
}

TEST(ProgramPhases, AStepEndsWithItsOptimizerAndBeginsWhereTheLastOneEnded) {
  const ProgramWindows steps = steps_of_phases(marks_of(Loop().step().step().step()));
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].begin_ns, 1000);
  EXPECT_EQ(steps[0].end_ns, 1650);
  EXPECT_EQ(steps[1].begin_ns, 1650);
  EXPECT_EQ(steps[2].end_ns - steps[2].begin_ns, 660);
}

TEST(ProgramPhases, EachPhaseHasItsTimeAndItsCompute) {
  std::vector<ProgramRank> ranks = {Loop().step().step().step().step().rank_};
  const ProgramSteps found = assign_program_steps(ranks, 1);
  EXPECT_EQ(found.source, StepSource::kOptimizer);
  EXPECT_EQ(found.steps, 4u);
  ASSERT_TRUE(found.phases);
  EXPECT_EQ(found.phases->data_ns, 100);
  EXPECT_EQ(found.phases->forward_ns, 200);
  EXPECT_EQ(found.phases->backward_ns, 300);
  EXPECT_EQ(found.phases->optimizer_ns, 50);
  EXPECT_EQ(found.phases->samples, 32);
  EXPECT_EQ(found.phases->host_gap_ns, (std::array<std::int64_t, 4>{50, 50, 0, 10})) << "of the loop itself: 10";
  std::map<SpanKind, std::int64_t> times;
  for (const Span& span : ranks.front().spans) times[span.kind] += span.duration_ns();
  EXPECT_EQ(times[SpanKind::kForward], 4 * 150);
  EXPECT_EQ(times[SpanKind::kBackward], 4 * 250);
  EXPECT_EQ(times[SpanKind::kOptimizer], 4 * 50);
  EXPECT_EQ(times[SpanKind::kDataWait], 4 * (100 + 40)) << "what the loader computes is part of loading";
  EXPECT_EQ(times.count(SpanKind::kCompute), 0u);
}

TEST(ProgramPhases, AccumulationIsOneStep) {
  Loop loop;
  for (int step = 0; step < 5; ++step) {
    for (int micro = 0; micro < 4; ++micro)
      loop.mark(ProgramPhase::kData, 10, 8, kTrain).wait(20).mark(ProgramPhase::kBackward, 30);
    loop.mark(ProgramPhase::kOptimizer, 5, 0, kOptimizer);
  }
  std::vector<ProgramRank> ranks = {loop.rank_};
  const ProgramSteps found = assign_program_steps(ranks, 0);
  EXPECT_EQ(found.steps, 5u);
  EXPECT_EQ(found.phases->samples, 32);
  EXPECT_EQ(found.phases->forward_ns, 4 * 20);
  EXPECT_EQ(found.outside_ns, 0);
}

TEST(ProgramPhases, WhatIsEvaluatedOrSavedBetweenStepsBelongsToNone) {
  const auto between = [](auto interrupt) {
    Loop loop;
    loop.step().step();
    interrupt(loop);
    const std::int64_t trains_again_ns = loop.at_ns_;
    loop.step().step();
    const ProgramWindows steps = steps_of_phases(marks_of(loop));
    EXPECT_EQ(steps.size(), 4u);
    EXPECT_EQ(steps.at(2).begin_ns, trains_again_ns);
    EXPECT_EQ(steps.at(3).begin_ns, steps.at(2).end_ns);
  };
  between([](Loop& loop) {  // a loader of its own
    for (int batch = 0; batch < 3; ++batch) loop.mark(ProgramPhase::kData, 20, 64, kEvaluate).wait(50);
  });
  between([](Loop& loop) { loop.wait(5).mark(ProgramPhase::kEvaluation, 500).wait(20); });
  between([](Loop& loop) {
    loop.mark(ProgramPhase::kEvalMode, 0).wait(400).mark(ProgramPhase::kTrainMode, 0);
  });
  between([](Loop& loop) { loop.mark(ProgramPhase::kSave, 900).wait(3); });
}

TEST(ProgramPhases, AForwardPassWithoutGradientsIsAPartOfAStepThatUsesIt) {
  Loop loop;
  for (int step = 0; step < 4; ++step) {
    loop.mark(ProgramPhase::kData, 10, 64, kTrain).mark(ProgramPhase::kEvaluation, 40).wait(20);  // a teacher's
    loop.mark(ProgramPhase::kBackward, 30).mark(ProgramPhase::kOptimizer, 5, 0, kOptimizer);
  }
  const ProgramWindows steps = steps_of_phases(marks_of(loop));
  ASSERT_EQ(steps.size(), 4u);
  for (std::size_t i = 1; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].begin_ns, steps[i - 1].end_ns);
    EXPECT_EQ(steps[i].end_ns - steps[i].begin_ns, 105);
  }
}

TEST(ProgramPhases, ValidationBehindTheBatchOfAFewStepsIsNoPartOfThem) {
  Loop loop;
  for (int step = 0; step < 8; ++step) {
    loop.mark(ProgramPhase::kData, 10, 64, kTrain);
    if (step % 4 == 3) loop.mark(ProgramPhase::kData, 20, 100, kEvaluate).mark(ProgramPhase::kEvaluation, 400);
    loop.mark(ProgramPhase::kForward, 30).mark(ProgramPhase::kBackward, 30).mark(ProgramPhase::kOptimizer, 5, 0, kOptimizer);
  }
  for (const ProgramWindow& step : steps_of_phases(marks_of(loop))) EXPECT_LT(step.end_ns - step.begin_ns, 400);
}

TEST(ProgramPhases, TheFirstStepIsNoneOfTheEvaluationBeforeTraining) {
  Loop loop;
  for (int batch = 0; batch < 2; ++batch) loop.mark(ProgramPhase::kData, 20, 64, kEvaluate).wait(50);
  const std::int64_t trains_ns = loop.at_ns_;
  loop.step().step();
  EXPECT_EQ(steps_of_phases(marks_of(loop)).at(0).begin_ns, trains_ns);
}

TEST(ProgramPhases, OptimizersThatTakeTurnsMakeOneStep) {
  Loop loop;
  for (int step = 0; step < 6; ++step) {
    loop.mark(ProgramPhase::kBackward, 30).mark(ProgramPhase::kOptimizer, 5, 0, 1);
    loop.mark(ProgramPhase::kBackward, 30).mark(ProgramPhase::kOptimizer, 5, 0, 2).wait(10);
  }
  const ProgramWindows steps = steps_of_phases(marks_of(loop));
  ASSERT_EQ(steps.size(), 6u);
  EXPECT_EQ(steps[1].end_ns - steps[1].begin_ns, 80) << "it ends with the last in turn";
}

TEST(ProgramPhases, AnOptimizerAfterAnotherGoesOn) {
  Loop loop;
  for (int step = 0; step < 4; ++step) loop.mark(ProgramPhase::kBackward, 30).mark(ProgramPhase::kOptimizer, 5, 0, 1);
  for (int step = 0; step < 3; ++step) loop.mark(ProgramPhase::kBackward, 30).mark(ProgramPhase::kOptimizer, 5, 0, 2);
  EXPECT_EQ(steps_of_phases(marks_of(loop)).size(), 7u);
}

TEST(ProgramPhases, AClosureTrainsInsideOfTheOptimizer) {
  Loop loop;
  for (int step = 0; step < 4; ++step) {
    loop.mark(ProgramPhase::kData, 10, 8, kTrain);
    const std::int64_t begin_ns = loop.at_ns_;
    loop.compute(25).wait(30).compute(40).mark(ProgramPhase::kBackward, 40).wait(7);
    Span& optimizer = loop.mark(ProgramPhase::kOptimizer, 0, 0, kOptimizer).rank_.spans.back();
    optimizer.begin_ns = begin_ns;
  }
  std::vector<ProgramRank> ranks = {loop.rank_};
  const ProgramSteps found = assign_program_steps(ranks, 0);
  ASSERT_TRUE(found.phases);
  EXPECT_EQ(found.steps, 4u);
  EXPECT_EQ(found.phases->forward_ns, 30);
  EXPECT_EQ(found.phases->backward_ns, 40);
  EXPECT_EQ(found.phases->optimizer_ns, 7);
}

TEST(ProgramPhases, GradientsThatWereDiscardedBeforeTheFirstStepAreNoneOfIt) {
  Loop loop;
  loop.wait(30).mark(ProgramPhase::kBackward, 500).mark(ProgramPhase::kZeroGrad, 5).wait(7);
  const std::int64_t trains_ns = loop.at_ns_;
  for (int step = 0; step < 3; ++step) {
    loop.mark(ProgramPhase::kData, 10, 8, kTrain).wait(20).mark(ProgramPhase::kZeroGrad, 2);
    loop.mark(ProgramPhase::kBackward, 30).mark(ProgramPhase::kOptimizer, 5, 0, kOptimizer);
  }
  const ProgramWindows steps = steps_of_phases(marks_of(loop));
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].begin_ns, trains_ns);
}

TEST(ProgramPhases, MicroBatchesThatAnEngineCountsAreNotDiscarded) {
  Loop loop;
  for (int micro = 0; micro < 3; ++micro) {
    loop.mark(ProgramPhase::kData, 10, 8, kTrain).wait(20).mark(ProgramPhase::kBackward, 30);
    loop.mark(ProgramPhase::kOptimizerCall, 4);
  }
  loop.mark(ProgramPhase::kOptimizer, 5, 0, kOptimizer);
  std::vector<ProgramRank> ranks = {loop.rank_};
  const ProgramSteps found = assign_program_steps(ranks, 0);
  EXPECT_EQ(found.steps, 1u);
  EXPECT_EQ(found.phases->samples, 24);
  EXPECT_EQ(found.phases->optimizer_ns, 3 * 4 + 5);
}

TEST(ProgramPhases, AForwardPassThatIsMarkedAsAWholeIsNoLonger) {
  Loop loop;
  for (int step = 0; step < 2; ++step) {
    loop.mark(ProgramPhase::kData, 10, 8, kTrain).wait(100);  // a trainer's own hooks
    loop.mark(ProgramPhase::kForward, 40).wait(60);
    loop.mark(ProgramPhase::kBackward, 30).mark(ProgramPhase::kOptimizer, 5, 0, kOptimizer);
  }
  std::vector<ProgramRank> whole = {loop.rank_};
  EXPECT_EQ(assign_program_steps(whole, 0).phases->forward_ns, 40);

  std::vector<ProgramRank> part = {loop.rank_};
  for (Span& span : part[0].spans) {
    if (span.name_id == static_cast<std::uint32_t>(ProgramPhase::kForward)) span.correlation = kForwardPart;
  }
  EXPECT_EQ(assign_program_steps(part, 0).phases->forward_ns, 200) << "the loss comes behind it";
}

TEST(ProgramPhases, OfAWindowAloneTheSpansAreKept) {
  Loop loop;
  for (int step = 0; step < 10; ++step) loop.step();
  const auto kept = [&](const KeptSteps& window) {
    std::vector<ProgramRank> ranks = {loop.rank_};
    ProgramSteps found = assign_program_steps(ranks, 0, HostTime::kRest, window);
    EXPECT_EQ(found.found, 10u);
    for (const Span& span : ranks.front().spans) EXPECT_NE(span.step, kNoStep);
    return found.steps;
  };
  EXPECT_EQ(kept({.skip = 2, .measure = 3}), 3u);
  EXPECT_EQ(kept({.skip = 8, .measure = 30}), 2u);
  EXPECT_EQ(kept({.skip = 10, .measure = 1}), 0u);
  EXPECT_EQ(kept({.skip = 4, .duration_ns = 1400}), 3u) << "the step in which the time is over is the last";
}

TEST(ProgramPhases, NoSamplesWhereLoadersWereSeldomSeen) {
  Loop loop;
  for (int step = 0; step < 10; ++step) {
    if (step % 2 == 0) loop.mark(ProgramPhase::kData, 10, 8, kTrain);
    loop.mark(ProgramPhase::kBackward, 30).mark(ProgramPhase::kOptimizer, 5, 0, kOptimizer);
  }
  std::vector<ProgramRank> ranks = {loop.rank_};
  EXPECT_EQ(assign_program_steps(ranks, 0).phases->samples, 0);
}

TEST(ProgramPhases, MarksInAnyOrderAndWithoutAnEndAreNoSteps) {
  Loop loop;
  for (int i = 0; i < 5; ++i) loop.mark(ProgramPhase::kData, 10, 8, kTrain).mark(ProgramPhase::kBackward, 5);
  EXPECT_TRUE(steps_of_phases(marks_of(loop)).empty());
  EXPECT_TRUE(steps_of_phases({}).empty());
  ProgramRank nothing;
  EXPECT_TRUE(take_phase_marks(nothing).empty());
}

TEST(LearningRates, AreThoseOfTheOptimizerThatEndsTheStepOrWhatTheProgramReports) {
  for (const double rate : {0.0, 0.1, 1e-4, 3.0517578125e-5, 1000.0}) EXPECT_EQ(learning_rate_of(learning_rate_code(rate)), rate);
  for (const double beyond : {-1e-9, 1000.5, std::nan("")}) EXPECT_EQ(learning_rate_of(learning_rate_code(beyond)), std::nullopt);
  EXPECT_EQ(learning_rate_of(kMostBytes), std::nullopt) << "a span of somebody else";
  Loop loop;
  const auto optimizer = [&](std::uint64_t code, std::uint64_t which) { loop.mark(ProgramPhase::kOptimizer, 50, code, which); };
  loop.mark(ProgramPhase::kData, 100, 32, kTrain);
  optimizer(learning_rate_code(0), kOptimizer);  // a warm-up begins with 0
  optimizer(learning_rate_code(0.7), 10);        // of two in turn, the last ends the step
  optimizer(learning_rate_code(0.1), kOptimizer);
  optimizer(0, 10);                              // not known
  loop.wait(10).mark(ProgramPhase::kOptimizerCall, 0, learning_rate_code(0.25)).wait(10);
  optimizer(learning_rate_code(0.2), kOptimizer);
  optimizer(learning_rate_code(0.7), 10);
  std::vector<ProgramRank> ranks{loop.rank_};
  const ProgramSteps steps = assign_program_steps(ranks, 0);
  EXPECT_EQ(steps.learning_rates, (std::vector<std::optional<double>>{0.7, 0.1, 0.25}));
  std::vector<ProgramRank> later{loop.rank_};
  EXPECT_EQ(assign_program_steps(later, 0, HostTime::kRest, {.skip = 2}).learning_rates,
            (std::vector<std::optional<double>>{0.25}));
  std::vector<ProgramRank> silent{Loop().step().step().rank_};
  EXPECT_TRUE(assign_program_steps(silent, 0).learning_rates.empty());
}

}  // namespace
}  // namespace ddbench::analyzer
