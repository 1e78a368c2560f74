// When a run that ends by its margin is preempted, the order of both decides what its end was.
#include "harness/launch/supervisor/end_of_steps.h"

#include <gtest/gtest.h>

#include "core/run_case/step_facts.h"

namespace ddbench::launch {
namespace {

RunCase two_ranks(bool by_margin) {
  RunCase run_case;
  run_case.gpus_per_node = 2;
  run_case.warmup = 2;
  run_case.steps = by_margin ? 1000 : 20;
  run_case.margin = by_margin ? 0.01 : 0;
  run_case.max_time_s = 1;
  return run_case;
}

/// Both ranks name the step as their horizon.
std::optional<LastStep> answer(EndOfSteps& end, const Hold& hold, std::uint32_t step) {
  EXPECT_EQ(end.add(0, Holding{hold.round, step}), std::nullopt);
  return end.add(1, Holding{hold.round, step + 1});
}

TEST(EndOfSteps, APreemptedRunEndsWithTheFurthestStep) {
  EndOfSteps end(two_ranks(false));
  EXPECT_FALSE(end.by_margin());
  EXPECT_FALSE(end.was_all());
  const auto last = answer(end, end.preempt(), 7);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->step, 8U);
  EXPECT_TRUE(last->checkpoint);
  EXPECT_FALSE(end.was_all()) << "22 steps were asked for";
  Facts facts;
  end.describe(SupervisedRanks(two_ranks(false), {}), facts);
  EXPECT_TRUE(facts.empty());
}

TEST(EndOfSteps, APreemptionInTheLastStepLosesNothing) {
  EndOfSteps end(two_ranks(false));
  answer(end, end.preempt(), 20);
  EXPECT_EQ(end.last_step(), 21U);
  EXPECT_TRUE(end.was_all());
}

TEST(EndOfSteps, APreemptionInTheStepThatReachesTheTargetLosesNothing) {
  EndOfSteps end(two_ranks(false));
  answer(end, end.preempt(), 7);
  EXPECT_FALSE(end.was_all());
  end.end_by_target();
  EXPECT_TRUE(end.was_all());
}

TEST(EndOfSteps, TheTimeEndsARunOnceAndAPreemptionAfterwardsLosesNothing) {
  EndOfSteps end(two_ranks(true));
  StepTimes times;
  times.measured_ns = 2'000'000'000;
  end.add(times);
  const auto hold = end.decide(times);
  ASSERT_TRUE(hold);
  EXPECT_FALSE(end.decide(times)) << "once";
  const auto last = answer(end, *hold, 30);
  ASSERT_TRUE(last);
  EXPECT_FALSE(last->checkpoint);
  Facts facts;
  SupervisedRanks ranks(two_ranks(true), {});
  ranks[1].waits = 3;
  ranks[1].wait_ns = 5;
  end.describe(ranks, facts);
  EXPECT_EQ(facts.at("steps.ended_by"), kEndedByTime);
  EXPECT_EQ(facts.at("steps.done"), "32");
  EXPECT_EQ(facts.at("steps.waits_for_launcher"), "3");
  answer(end, end.preempt(), 30);
  EXPECT_TRUE(end.was_all());
}

TEST(EndOfSteps, APreemptionVoidsTheEndByTime) {
  EndOfSteps end(two_ranks(true));
  StepTimes times;
  times.measured_ns = 2'000'000'000;
  const auto hold = end.decide(times);
  ASSERT_TRUE(hold);
  const Hold later = end.preempt();
  EXPECT_EQ(answer(end, *hold, 30), std::nullopt) << "answers to the earlier round";
  const auto last = answer(end, later, 5);
  ASSERT_TRUE(last);
  EXPECT_TRUE(last->checkpoint);
  EXPECT_FALSE(end.was_all());
}

}  // namespace
}  // namespace ddbench::launch
