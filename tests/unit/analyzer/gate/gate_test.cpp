#include "analyzer/gate/gate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "sample_sides.h"

namespace ddbench::analyzer {
namespace {

using test::inconclusive_because;
using test::interleave;
using test::policy_for;
using test::sample_side;
using test::Sides;
using test::sides;
using test::verdict;

TEST(Judge, EqualSidesPass) {
  const GateVerdict result = verdict(sides(1));
  EXPECT_EQ(result.outcome, GateOutcome::kPass);
  EXPECT_EQ(exit_code_of(result.outcome), 0);
  EXPECT_EQ(result.headline, "no regression in step_time");
  EXPECT_TRUE(result.reasons.empty());
  EXPECT_TRUE(result.explanation.empty());
  EXPECT_EQ(result.in_time, SidesInTime::kInterleaved);
}

TEST(Judge, ASlowdownIsARegressionWithItsFigures) {
  const GateVerdict result = verdict(sides(1.10));
  EXPECT_EQ(result.outcome, GateOutcome::kRegression);
  EXPECT_EQ(exit_code_of(result.outcome), 3);
  ASSERT_TRUE(result.metrics[0].estimate);
  const MetricVerdict::Estimate& estimate = *result.metrics[0].estimate;
  EXPECT_NEAR(estimate.change, 0.10, 1e-9);
  EXPECT_LT(estimate.change_interval.low, 0.10);
  EXPECT_GT(estimate.change_interval.high, 0.10);
  EXPECT_GT(estimate.least_change, 0);
  EXPECT_NEAR(estimate.candidate / estimate.baseline, 1.10, 1e-9);
  EXPECT_LT(estimate.p_value, 0.01);
}

TEST(Judge, ASlowdownBelowTheThresholdPasses) {
  EXPECT_EQ(verdict(sides(1.015)).outcome, GateOutcome::kPass);
  GatePolicy strict;
  strict.threshold = 0.008;
  EXPECT_EQ(verdict(sides(1.015), strict).outcome, GateOutcome::kRegression);
}

TEST(Judge, EachMetricPointsItsOwnWay) {
  for (const RunMetric metric : all_run_metrics()) {
    Sides slower = sides(1.10);
    for (RunMeasures& run : slower.candidate.runs) run[RunMetric::kHostMemory] = run[RunMetric::kDeviceMemory] = 1.1e8;
    EXPECT_EQ(verdict(slower, policy_for({metric})).outcome, GateOutcome::kRegression) << to_string(metric);
    Sides faster = sides(0.90);
    for (RunMeasures& run : faster.candidate.runs) run[RunMetric::kHostMemory] = run[RunMetric::kDeviceMemory] = 0.9e8;
    const GateVerdict better = verdict(faster, policy_for({metric}));
    EXPECT_EQ(better.outcome, GateOutcome::kPass) << to_string(metric);
    EXPECT_TRUE(better.metrics[0].improved) << to_string(metric);
  }
}

TEST(Judge, ChangesAreThoseOfTheMetricItself) {
  Sides both = sides(1);
  for (RunMeasures& run : both.baseline.runs) run[RunMetric::kThroughput] = 4798;
  for (RunMeasures& run : both.candidate.runs) run[RunMetric::kThroughput] = 3439;
  const GateVerdict fell = verdict(both, policy_for({RunMetric::kThroughput}));
  EXPECT_EQ(fell.outcome, GateOutcome::kRegression);
  EXPECT_NEAR(fell.metrics[0].estimate->change, 3439.0 / 4798 - 1, 1e-9);
  EXPECT_EQ(fell.metrics[0].reason.rfind("worse, -28.3% (95% CI -28.4% to -28.2%)", 0), 0u)
      << fell.metrics[0].reason;
  // A threshold of 30% accepts a fall to 70%; the step time it means is 43% longer.
  GatePolicy lenient = policy_for({RunMetric::kThroughput});
  lenient.threshold = 0.3;
  EXPECT_EQ(verdict(both, lenient).outcome, GateOutcome::kPass);
  lenient.threshold = 1;
  EXPECT_THROW(verdict(both, lenient), Error);
}

TEST(Judge, PassesAndMissingVerdictsNameTheDetectableChange) {
  const GateVerdict pass = verdict(sides(1), policy_for({RunMetric::kStepTime, RunMetric::kThroughput}));
  ASSERT_EQ(pass.outcome, GateOutcome::kPass);
  EXPECT_GT(pass.metrics[0].estimate->detectable_change, 0.03);
  EXPECT_LT(pass.metrics[0].estimate->detectable_change, 0.05);
  EXPECT_LT(pass.metrics[1].estimate->detectable_change, -0.03);
  EXPECT_NE(pass.metrics[0].reason.find("; detectable from +3."), std::string::npos)
      << pass.metrics[0].reason;
  EXPECT_NE(pass.metrics[1].reason.find("; detectable from -3."), std::string::npos)
      << pass.metrics[1].reason;
  Sides noisy{sample_side("a", {10, 12, 9, 13, 10, 8}), sample_side("b", {11, 9, 13, 9, 12, 10})};
  interleave(noisy.baseline, noisy.candidate);
  const GateVerdict unknown = verdict(noisy);
  EXPECT_EQ(unknown.outcome, GateOutcome::kInconclusive);
  EXPECT_GT(unknown.metrics[0].estimate->detectable_change, 0.2);
  EXPECT_NE(unknown.metrics[0].reason.find("; detectable from +"), std::string::npos);
}

TEST(Judge, CommunicationThatIsFullyHiddenCanBeCompared) {
  Sides both = sides(1);
  for (GateSide* side : {&both.baseline, &both.candidate}) {
    for (RunMeasures& run : side->runs) run[RunMetric::kExposed] = 0;
  }
  const GateVerdict hidden = verdict(both, policy_for({RunMetric::kExposed}));
  EXPECT_EQ(hidden.outcome, GateOutcome::kPass);
  EXPECT_EQ(hidden.metrics[0].estimate->baseline, 0);
  for (RunMeasures& run : both.candidate.runs) run[RunMetric::kExposed] = 2e6;
  EXPECT_EQ(verdict(both, policy_for({RunMetric::kExposed})).outcome, GateOutcome::kRegression);
}

TEST(Judge, NoiseAboveTheThresholdIsNoVerdict) {
  Sides noisy{sample_side("a", {10, 12, 9, 13, 10, 8}), sample_side("b", {11, 9, 13, 9, 12, 10})};
  interleave(noisy.baseline, noisy.candidate);
  const GateVerdict result = verdict(noisy);
  EXPECT_TRUE(inconclusive_because(result, "too wide"));
  EXPECT_EQ(exit_code_of(result.outcome), 4);
}

TEST(Judge, AWideIntervalThatExcludesTheThresholdPasses) {
  Sides noisy{sample_side("a", {20, 22, 19, 23, 20, 18}), sample_side("b", {11, 9, 13, 9, 12, 10})};
  interleave(noisy.baseline, noisy.candidate);
  EXPECT_EQ(verdict(noisy).outcome, GateOutcome::kPass);
}

TEST(Judge, CorrectsForTheNumberOfMetrics) {
  // Log ratios of mean 0.045 and t = 3.64 on 5 degrees of freedom: p = 0.0075, which one test at 1% rejects
  // and one of two does not.
  std::vector<double> slower;
  for (int i = 0; i < 6; ++i) {
    slower.push_back(10 *
                     std::exp(0.045 + 0.045 * std::sqrt(6) / 3.64 * (i % 2 == 0 ? -1 : 1) / std::sqrt(1.2)));
  }
  Sides both{sample_side("a", std::vector<double>(6, 10.0)), sample_side("b", slower)};
  interleave(both.baseline, both.candidate);
  const GateVerdict alone = verdict(both, policy_for({RunMetric::kStepTime}));
  ASSERT_TRUE(alone.metrics[0].estimate);
  const double p_value = alone.metrics[0].estimate->p_value;
  ASSERT_GT(p_value, 0.01 / 2);
  ASSERT_LT(p_value, 0.01);
  EXPECT_EQ(alone.outcome, GateOutcome::kRegression);
  const GateVerdict together = verdict(both, policy_for({RunMetric::kStepTime, RunMetric::kHostMemory}));
  EXPECT_EQ(together.outcome, GateOutcome::kInconclusive);
}

TEST(Judge, ExplainsWhatMoved) {
  Sides both = sides(1);
  for (RunMeasures& run : both.candidate.runs) {
    const double before = *run[RunMetric::kStepTime];
    run[RunMetric::kStepTime] = before + 3e6;
    run.partition[store::StepPart::kExposedTransfer] += 3'000'000;
    run.collectives[0].transfer_ns = run.collectives[0].record.transfer_ns += 1'500'000;
  }
  const GateVerdict result = verdict(both);
  ASSERT_EQ(result.outcome, GateOutcome::kRegression);
  ASSERT_EQ(result.parts.size(), static_cast<std::size_t>(store::kStepPartCount));
  EXPECT_EQ(result.parts[0].part, store::StepPart::kExposedTransfer);
  EXPECT_NEAR(result.parts[0].change_ns(), 3e6, 1e3);
  EXPECT_LE(result.parts[0].change_interval->low, result.parts[0].change_ns());
  EXPECT_GE(result.parts[0].change_interval->high, result.parts[0].change_ns());
  ASSERT_EQ(result.explanation.size(), 2u);
  EXPECT_EQ(result.explanation[0].rfind("exposed transfer went from 2.0", 0), 0u) << result.explanation[0];
  EXPECT_EQ(result.explanation[1].rfind("bucket 0 of all_reduce (1.05 MB) went from 1.00", 0), 0u)
      << result.explanation[1];
}

TEST(Judge, DoesNotExplainARegressionByWhatHardlyMoved) {
  Sides both = sides(1);
  for (RunMeasures& run : both.candidate.runs) {
    const double before = *run[RunMetric::kStepTime];
    run[RunMetric::kStepTime] = before + 3e6;
    run.partition[store::StepPart::kExposedTransfer] += 3'000'000;
    run.partition[store::StepPart::kIdle] += 10'000;  // 0.3%
  }
  const GateVerdict result = verdict(both);
  ASSERT_EQ(result.outcome, GateOutcome::kRegression);
  ASSERT_EQ(result.explanation.size(), 1U) << result.explanation.back();
  EXPECT_NE(result.explanation[0].find("went from 2.000 ms to 5.000 ms a step, 100% of what the step got longer (95% CI of the change +"),
            std::string::npos)
      << result.explanation[0];
}

TEST(Judge, AnUnpartitionedRegressionSaysSo) {
  Sides both = sides(1.2);
  for (RunMeasures& run : both.candidate.runs) run.partition = {};
  const GateVerdict result = verdict(both);
  EXPECT_EQ(result.outcome, GateOutcome::kRegression);
  EXPECT_TRUE(result.parts.empty());
  EXPECT_NE(result.explanation.at(0).find("not known"), std::string::npos);
}

TEST(Judge, PartsOfRunsThatAgreeToTheLastDigitHaveAnInterval) {
  for (const bool in_turns : {true, false}) {
    Sides both{sample_side("a", {10, 10, 10, 10}), sample_side("b", {11, 11, 11, 11})};
    if (in_turns) interleave(both.baseline, both.candidate);
    const GateVerdict result = verdict(both);
    ASSERT_FALSE(result.parts.empty());
    const PartChange& backward = result.parts[0];
    ASSERT_TRUE(backward.change_interval);
    // 0.8 of the steps; at least a spread of 0.05% of each side
    EXPECT_LT(backward.change_interval->low, backward.change_ns() - 0.0005 * 8e6);
    EXPECT_GT(backward.change_interval->high, backward.change_ns() + 0.0005 * 8e6);
  }
}

}  // namespace
}  // namespace ddbench::analyzer
