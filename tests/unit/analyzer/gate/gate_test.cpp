#include "analyzer/gate/gate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "sample_runs.h"

namespace ddbench::analyzer {
namespace {

using test::interleave;
using test::kDay_ns;
using test::sample_side;

const std::vector<double> kSteady{10.00, 10.05, 9.95, 10.02, 9.98, 10.01};

std::vector<double> times(const std::vector<double>& values, double factor) {
  std::vector<double> result;
  for (const double value : values) result.push_back(value * factor);
  return result;
}

struct Sides {
  GateSide baseline;
  GateSide candidate;
};

/// Interleaved sides, the candidate's steps `factor` times as long, its noise in another order.
Sides sides(double factor) {
  std::vector<double> candidate = times(kSteady, factor);
  std::rotate(candidate.begin(), candidate.begin() + 2, candidate.end());
  Sides both{sample_side("a", kSteady), sample_side("b", candidate)};
  interleave(both.baseline, both.candidate);
  return both;
}

GateVerdict verdict(const Sides& both, const GatePolicy& policy = {}) {
  return judge(both.baseline, both.candidate, policy);
}

testing::AssertionResult inconclusive_because(const GateVerdict& verdict, const std::string& words) {
  if (verdict.outcome != GateOutcome::kInconclusive) {
    return testing::AssertionFailure()
           << "the outcome is " << to_string(verdict.outcome) << ": " << verdict.headline;
  }
  for (const std::string& reason : verdict.reasons) {
    if (reason.find(words) != std::string::npos) return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "no reason has \"" << words << "\": " << verdict.headline;
}

GatePolicy policy_for(std::vector<RunMetric> metrics) {
  GatePolicy policy;
  policy.metrics = std::move(metrics);
  return policy;
}

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
    for (RunMeasures& run : slower.candidate.runs) run[RunMetric::kPeakMemory] = 1.1e8;
    EXPECT_EQ(verdict(slower, policy_for({metric})).outcome, GateOutcome::kRegression) << to_string(metric);
    Sides faster = sides(0.90);
    for (RunMeasures& run : faster.candidate.runs) run[RunMetric::kPeakMemory] = 0.9e8;
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
  // A threshold of 30 % accepts a fall to 70 %; the step time it means is 43 % longer.
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
  for (RunMeasures& run : both.candidate.runs) run.run.run_case.workload = "gpt2";
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

TEST(Judge, CorrectsForTheNumberOfMetrics) {
  // Log ratios of mean 0.045 and t = 3.64 on 5 degrees of freedom: p = 0.0075, which one test at 1 % rejects
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
  const GateVerdict together = verdict(both, policy_for({RunMetric::kStepTime, RunMetric::kPeakMemory}));
  EXPECT_EQ(together.outcome, GateOutcome::kInconclusive);
}

TEST(Judge, ExplainsWhatMoved) {
  Sides both = sides(1);
  for (RunMeasures& run : both.candidate.runs) {
    const double before = *run[RunMetric::kStepTime];
    run[RunMetric::kStepTime] = before + 3e6;
    run.partition[store::StepPart::kExposedTransfer] += 3'000'000;
    run.collectives[0].record.transfer_ns += 1'500'000;
  }
  const GateVerdict result = verdict(both);
  ASSERT_EQ(result.outcome, GateOutcome::kRegression);
  ASSERT_EQ(result.parts.size(), static_cast<std::size_t>(store::kStepPartCount));
  EXPECT_EQ(result.parts[0].part, store::StepPart::kExposedTransfer);
  EXPECT_NEAR(result.parts[0].change_ns(), 3e6, 1e3);
  EXPECT_LE(result.parts[0].change_interval->low, result.parts[0].change_ns());
  EXPECT_GE(result.parts[0].change_interval->high, result.parts[0].change_ns());
  ASSERT_EQ(result.explanation.size(), 2u);
  EXPECT_EQ(result.explanation[0].rfind("exposed_transfer went from 2.0", 0), 0u) << result.explanation[0];
  EXPECT_EQ(result.explanation[1].rfind("bucket 0 of all_reduce (1048576 bytes) went from 1.00", 0), 0u)
      << result.explanation[1];
}

TEST(Judge, AnUnpartitionedRegressionSaysSo) {
  Sides both = sides(1.2);
  for (RunMeasures& run : both.candidate.runs) run.partition = {};
  const GateVerdict result = verdict(both);
  EXPECT_EQ(result.outcome, GateOutcome::kRegression);
  EXPECT_TRUE(result.parts.empty());
  EXPECT_NE(result.explanation.at(0).find("not known"), std::string::npos);
}

TEST(Judge, BlocksOfRunsCountDriftAsNoise) {
  const Sides both{sample_side("a", kSteady),
                   sample_side("b", times(kSteady, 1.02), kDay_ns + 10 * test::kMinute_ns)};
  GatePolicy strict;
  strict.threshold = 0.01;
  const GateVerdict result = verdict(both, strict);
  EXPECT_EQ(result.in_time, SidesInTime::kBlocks);
  ASSERT_FALSE(result.notes.empty());
  EXPECT_TRUE(inconclusive_because(result, "gate --run"));
  const Sides slow{both.baseline, sample_side("b", times(kSteady, 1.2), kDay_ns + 10 * test::kMinute_ns)};
  EXPECT_EQ(verdict(slow).outcome, GateOutcome::kRegression);
}

/// `nights` sessions of 5 runs, a night apart.
GateSide nightly(const std::string& name, const std::vector<double>& night_ms) {
  GateSide side;
  side.reference = name;
  for (std::size_t night = 0; night < night_ms.size(); ++night) {
    const auto started = static_cast<std::int64_t>(night + 1) * kDay_ns;
    for (RunMeasures& run : sample_side(name + std::to_string(night) + ".",
                                        times({0.998, 1.002, 1, 0.999, 1.001}, night_ms[night]), started)
                                .runs) {
      side.runs.push_back(std::move(run));
    }
  }
  return side;
}

TEST(Judge, ABaselineOfManyNightsKnowsItsOwnSpread) {
  const GateSide quiet = nightly("main", {10, 10.02, 9.98, 10.01, 9.99, 10});
  const GateSide wild = nightly("main", {10, 10.8, 9.3, 10.5, 9.6, 9.9});
  const GateSide candidate = sample_side("pr", times(kSteady, 1.07), 20 * kDay_ns);
  EXPECT_EQ(verdict({quiet, candidate}).outcome, GateOutcome::kRegression);
  EXPECT_EQ(verdict({quiet, sample_side("pr", kSteady, 20 * kDay_ns)}).outcome, GateOutcome::kPass);
  EXPECT_TRUE(inconclusive_because(verdict({wild, candidate}), "too wide"));
  EXPECT_EQ(verdict({wild, candidate}).in_time, SidesInTime::kSessions);
}

TEST(Judge, OneNightIsNotTrustedBeforeItsHistorySpeaks) {
  GateSide lucky = nightly("main", {10});
  const GateSide candidate = sample_side("pr", times(kSteady, 1.07), 20 * kDay_ns);
  EXPECT_TRUE(inconclusive_because(verdict({lucky, candidate}), "too wide"));
  // Earlier versions of the baseline show how little its nights differ.
  GateSide history = nightly("old", {10.01, 9.99, 10, 10.02, 9.98});
  for (RunMeasures& run : history.runs) run.run.started_wall_ns -= 10 * kDay_ns;
  for (RunMeasures& run : history.runs) run.run.finished_wall_ns -= 10 * kDay_ns;
  lucky.earlier = history.runs;
  EXPECT_EQ(verdict({lucky, candidate}).outcome, GateOutcome::kRegression);
  // A history on another machine says nothing.
  for (RunMeasures& run : lucky.earlier) run.run.environment.fingerprint = "bbbb";
  EXPECT_TRUE(inconclusive_because(verdict({lucky, candidate}), "too wide"));
}

TEST(Judge, HistoryCountsFromItsLastChangeOfLevel) {
  GateSide baseline = nightly("main", {10});
  for (RunMeasures& run : baseline.runs) run.run.started_wall_ns += 30 * kDay_ns;
  for (RunMeasures& run : baseline.runs) run.run.finished_wall_ns += 30 * kDay_ns;
  baseline.earlier = nightly("old", {13.01, 12.99, 13, 13.02, 12.98, 13, 10.01, 9.99, 10, 10.02, 9.98}).runs;
  const GateSide candidate = sample_side("pr", times(kSteady, 1.07), 40 * kDay_ns);
  EXPECT_EQ(verdict({baseline, candidate}).outcome, GateOutcome::kRegression);
}

TEST(MeasureRun, TakesOneNumberOfEachMetricOrSaysWhyNot) {
  RunSummary summary;
  summary.run.run_case.nodes = 2;
  summary.run.run_case.gpus_per_node = 1;
  summary.step_time_ns = Quantity{2e6};
  summary.samples_per_s = 64000.0;
  summary.probed_steps = 10;
  summary.communication_ns = 500;
  summary.exposed_communication_ns = 300;
  CollectiveSummary small;
  small.record.bytes = 10;
  small.busbw_gb_per_s = 1.0;
  CollectiveSummary large;
  large.record.bytes = 1000;
  large.busbw_gb_per_s = 7.0;
  summary.collectives = {small, large};
  store::RankRecord rank;
  rank.peak_memory_bytes = 5;
  summary.ranks = {rank, rank};
  summary.ranks[1].rank = 1;
  summary.ranks[1].peak_memory_bytes = 9;
  const RunMeasures measures = measure_run(summary);
  EXPECT_EQ(*measures[RunMetric::kStepTime], 2e6);
  EXPECT_EQ(*measures[RunMetric::kThroughput], 64000);
  EXPECT_EQ(*measures[RunMetric::kExposed], 300);
  EXPECT_EQ(*measures[RunMetric::kBusBandwidth], 7);
  EXPECT_EQ(*measures[RunMetric::kPeakMemory], 9);
  EXPECT_EQ(measures[RunMetric::kEfficiency].reason(), "no baseline");

  summary.exposed_communication_ns = 0;
  EXPECT_EQ(*measure_run(summary)[RunMetric::kExposed],
            0);  // fully hidden, which is no lack of a measurement
  summary.communication_ns = 0;
  EXPECT_EQ(measure_run(summary)[RunMetric::kExposed].reason(), "no communication spans were recorded");
  summary.collectives.clear();
  EXPECT_EQ(measure_run(summary)[RunMetric::kBusBandwidth].reason(), "no communication spans were recorded");
  summary.ranks[1].peak_memory_bytes = 0;
  EXPECT_EQ(measure_run(summary)[RunMetric::kPeakMemory].reason(), "rank 1 did not report peak memory");
  summary.step_time_ns = Quantity{0};
  EXPECT_FALSE(measure_run(summary)[RunMetric::kStepTime]);
}

}  // namespace
}  // namespace ddbench::analyzer
