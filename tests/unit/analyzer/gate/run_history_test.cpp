#include "analyzer/gate/run_history.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/run_case/program_case.h"
#include "core/run_case/program_files.h"
#include "sample_runs.h"

namespace ddbench::analyzer {
namespace {

std::vector<RunMeasures> runs_with(const std::vector<double>& step_ms) {
  return test::sample_side("r", step_ms).runs;
}

std::vector<double> two_levels(double first, double second) {
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) values.push_back((i < 10 ? first : second) * (1 + 0.002 * (i % 5 - 2)));
  return values;
}

TEST(RunHistory, FindsTheRunThatChangedTheLevel) {
  const RunHistory history = run_history(runs_with(two_levels(10, 12)), RunMetric::kStepTime);
  ASSERT_EQ(history.series.size(), 1u);
  ASSERT_EQ(history.series[0].changes.size(), 1u);
  const LevelChange& change = history.series[0].changes[0];
  EXPECT_EQ(history.series[0].points[change.index].run, "r10");
  EXPECT_NEAR(change.before, 10e6, 1e3);
  EXPECT_NEAR(change.after, 12e6, 1e3);
  EXPECT_TRUE(change.worse);
  EXPECT_FALSE(run_history(runs_with(two_levels(10, 12)), RunMetric::kThroughput).series[0].changes.empty());
  EXPECT_TRUE(run_history(runs_with(two_levels(10, 12)), RunMetric::kThroughput).series[0].changes[0].worse);
  EXPECT_FALSE(run_history(runs_with(two_levels(12, 10)), RunMetric::kStepTime).series[0].changes[0].worse);
}

TEST(RunHistory, AnEditOfTheScriptIsNotedAndMakesNoOtherSeries) {
  std::vector<RunMeasures> runs = runs_with(two_levels(10, 12));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    set_program(runs[i].run.run_case, {"python3", "train.py"});
    if (i == 3) continue;  // of an older ddbench
    set_program_files(runs[i].run.environment.facts, {{"train.py", i < 10 ? "1" : "2"}});
  }
  const RunHistory history = run_history(runs, RunMetric::kStepTime);
  ASSERT_EQ(history.series.size(), 1u);
  EXPECT_EQ(history.series[0].changes.size(), 1u);
  EXPECT_EQ(history.notes, std::vector<std::string>{history.series[0].label + ": the script changed at run r10: train.py"});
  for (std::size_t i = 0; i < history.series[0].points.size(); ++i)
    EXPECT_EQ(history.series[0].points[i].edited, i == 10 ? std::vector<std::string>{"train.py"} : std::vector<std::string>{}) << i;
  const Figure figure = history_figure(history);
  ASSERT_EQ(figure.series.size(), 3u);
  EXPECT_EQ(figure.series[1].name, history.series[0].label + ": script changed");
  ASSERT_EQ(figure.series[1].points.size(), 1u);
  EXPECT_EQ(figure.series[1].points[0].x, 11);
}

TEST(RunHistory, KeepsCasesAndMachinesApart) {
  std::vector<RunMeasures> runs = runs_with(two_levels(10, 12));
  for (std::size_t i = 10; i < runs.size(); ++i) runs[i].run.environment.fingerprint = "bbbb";
  runs.front().run.run_case.link = "1gbit";
  const RunHistory history = run_history(runs, RunMetric::kStepTime);
  ASSERT_EQ(history.series.size(), 3u);
  for (const HistorySeries& series : history.series) EXPECT_TRUE(series.changes.empty());
  EXPECT_EQ(history.series[0].label, "mlp, 2 × 2, fingerprint bbbb, link none");
  EXPECT_EQ(history.series[2].points.size(), 1u);
}

TEST(RunHistory, LabelsNameOnlyWhatSetsACaseApartFromOthersOfItsSize) {
  std::vector<RunMeasures> runs = runs_with({10, 11, 12});
  runs[0].run.run_case.nodes = 8;
  runs[0].run.run_case.precision = "fp16";
  runs[1].run.run_case.link = "1gbit";
  std::set<std::string> labels;
  for (const HistorySeries& series : run_history(runs, RunMetric::kStepTime).series) labels.insert(series.label);
  EXPECT_EQ(labels, (std::set<std::string>{"mlp, 8 × 2", "mlp, 2 × 2, link 1gbit", "mlp, 2 × 2, link none"}));
}

TEST(RunHistory, OrdersByTimeAndCountsWhatWasNotMeasured) {
  std::vector<RunMeasures> runs = runs_with({10, 11, 12});
  std::reverse(runs.begin(), runs.end());
  runs[1][RunMetric::kStepTime] = Measured<double>::missing("no steps");
  const RunHistory history = run_history(runs, RunMetric::kStepTime);
  ASSERT_EQ(history.series[0].points.size(), 2u);
  EXPECT_EQ(history.series[0].points[0].run, "r0");
  EXPECT_EQ(history.series[0].unmeasured, 1);
  EXPECT_EQ(history.notes.size(), 2u);
}

TEST(RunHistory, OfNothingSaysSo) {
  const RunHistory history = run_history(std::vector<RunMeasures>{}, RunMetric::kStepTime);
  EXPECT_TRUE(history.series.empty());
  EXPECT_EQ(history.notes, std::vector<std::string>{"no finished run matches"});
  EXPECT_TRUE(history_figure(history).series.empty());
}

TEST(HistoryFigure, ShowsPointsAndLevels) {
  const Figure figure = history_figure(run_history(runs_with(two_levels(10, 12)), RunMetric::kStepTime));
  EXPECT_EQ(figure.y.unit, "ms");
  ASSERT_EQ(figure.series.size(), 2u);
  EXPECT_EQ(figure.series[0].points.size(), 20u);
  EXPECT_DOUBLE_EQ(figure.series[0].points[2].y, 10);
  ASSERT_EQ(figure.series[1].points.size(), 4u);
  EXPECT_DOUBLE_EQ(figure.series[1].points[1].x, 10);
  EXPECT_NEAR(figure.series[1].points[1].y, 10, 1e-3);
  EXPECT_DOUBLE_EQ(figure.series[1].points[2].x, 11);
  EXPECT_NEAR(figure.series[1].points[2].y, 12, 1e-3);
  ASSERT_EQ(figure.notes.size(), 1u);
  EXPECT_NE(figure.notes[0].find("worse by +20.0% at run r10"), std::string::npos);
}

}  // namespace
}  // namespace ddbench::analyzer
