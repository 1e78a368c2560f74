#include "analyzer/gate/gate.h"

#include <gtest/gtest.h>

#include "sample_sides.h"

namespace ddbench::analyzer {
namespace {

using test::inconclusive_because;
using test::kDay_ns;
using test::kSteady;
using test::sample_side;
using test::Sides;
using test::times;
using test::verdict;

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
  // A history on another machine is no evidence.
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

}  // namespace
}  // namespace ddbench::analyzer
