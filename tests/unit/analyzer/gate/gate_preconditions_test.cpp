#include "analyzer/gate/gate.h"

#include <gtest/gtest.h>

#include "sample_sides.h"

namespace ddbench::analyzer {
namespace {

using test::inconclusive_because;
using test::kDay_ns;
using test::policy_for;
using test::sample_side;
using test::Sides;
using test::sides;
using test::verdict;

TEST(Judge, SidesWithoutRunsAreNoVerdict) {
  Sides both = sides(1);
  both.baseline.runs.clear();
  both.baseline.missing = "no such baseline";
  EXPECT_TRUE(inconclusive_because(verdict(both), "the baseline \"a\" has no runs: no such baseline"));
  both = sides(1);
  both.candidate.runs.clear();
  EXPECT_TRUE(inconclusive_because(verdict(both), "the candidate \"b\" has no runs"));
}

TEST(Judge, OneRunASideIsNoVerdictHoweverSlowIt) {
  Sides both{sample_side("a", {10}), sample_side("b", {100}, kDay_ns + test::kMinute_ns)};
  EXPECT_TRUE(inconclusive_because(verdict(both), "1 run of the baseline: 3 or more"));
}

TEST(Judge, FailedInvalidAndRunningRunsAreNoVerdict) {
  Sides both = sides(1);
  both.candidate.runs[1].run.state = store::RunState::kFailed;
  both.candidate.runs[1].run.reason = "rank 3 was killed";
  EXPECT_TRUE(inconclusive_because(verdict(both), "run b1 of the candidate failed: rank 3 was killed"));
  both = sides(1);
  both.baseline.runs[0].run.valid = false;
  both.baseline.runs[0].run.invalid_reason = "no communication";
  EXPECT_TRUE(inconclusive_because(verdict(both), "run a0 of the baseline is invalid: no communication"));
  both = sides(1);
  both.candidate.runs[0].run.state = store::RunState::kRunning;
  EXPECT_TRUE(inconclusive_because(verdict(both), "still running"));
  both.candidate.runs[0].run.state = store::RunState::kInterrupted;
  EXPECT_TRUE(inconclusive_because(verdict(both), "was interrupted"));
}

TEST(Judge, OtherHardwareOrWorkloadIsNoVerdictHoweverSlow) {
  Sides both = sides(3);
  for (RunMeasures& run : both.candidate.runs) run.run.environment.fingerprint = "bbbb";
  EXPECT_TRUE(inconclusive_because(verdict(both), "different hardware"));
  both = sides(3);
  for (RunMeasures& run : both.candidate.runs) run.run.run_case.work = ReferenceWorkload{"gpt2"};
  EXPECT_TRUE(inconclusive_because(verdict(both), "workload differs"));
  both = sides(3);
  for (RunMeasures& run : both.candidate.runs) run.run.environment.network = "loopback";
  EXPECT_TRUE(inconclusive_because(verdict(both), "network differs: \"veth\" in the baseline, \"loopback\""));
}

TEST(Judge, WhatIsVariedIsComparedAndNamed) {
  Sides both = sides(1.5);
  for (RunMeasures& run : both.candidate.runs) run.run.run_case.link = "100mbit";
  GatePolicy policy;
  policy.vary = {"link"};
  const GateVerdict result = verdict(both, policy);
  EXPECT_EQ(result.outcome, GateOutcome::kRegression);
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_EQ(result.notes[0], "compared: link (none) against 100mbit");
}

TEST(Judge, ARunOnBothSidesIsNoVerdict) {
  Sides both = sides(1);
  both.candidate.runs[2] = both.baseline.runs[2];
  EXPECT_TRUE(inconclusive_because(verdict(both), "run a2 is on both sides"));
}

TEST(Judge, WhatWasNotMeasuredIsNoVerdict) {
  Sides both = sides(1);
  both.candidate.runs[4][RunMetric::kExposed] =
      Measured<double>::missing("no communication spans were recorded");
  EXPECT_TRUE(inconclusive_because(verdict(both, policy_for({RunMetric::kExposed})),
                                   "run b4 did not measure it: no communication spans"));
  EXPECT_TRUE(inconclusive_because(verdict(both, policy_for({RunMetric::kStepTime, RunMetric::kExposed})),
                                   "exposed"));
}

TEST(Judge, ARegressionStandsBesideAMetricThatWasNotMeasured) {
  Sides both = sides(1.3);
  both.candidate.runs[4][RunMetric::kExposed] =
      Measured<double>::missing("no communication spans were recorded");
  const GateVerdict result = verdict(both, policy_for({RunMetric::kExposed, RunMetric::kStepTime}));
  EXPECT_EQ(result.outcome, GateOutcome::kRegression);
  EXPECT_EQ(result.metrics[0].outcome, GateOutcome::kInconclusive);
  EXPECT_EQ(result.headline, "regression in step_time");
}

TEST(Judge, EfficienciesNeedOneCommonBaselineRun) {
  Sides both = sides(1.3);
  EXPECT_EQ(verdict(both, policy_for({RunMetric::kEfficiency})).outcome, GateOutcome::kRegression);
  for (RunMeasures& run : both.candidate.runs) run.run.baseline_id = "another";
  EXPECT_TRUE(
      inconclusive_because(verdict(both, policy_for({RunMetric::kEfficiency})), "different baseline runs"));
}

}  // namespace
}  // namespace ddbench::analyzer
