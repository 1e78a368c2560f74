#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <sstream>

#include "example_summary.h"
#include "reports/tables/run_content.h"
#include "reports/formats/terminal/layout/cell_width.h"
#include "reports/formats/terminal/text.h"

namespace ddbench::reports {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The milliseconds shown in the rows of a section, and in its last row.
std::pair<double, double> parts_and_total(const std::string& text, const std::string& heading,
                                          const std::string& last) {
  double sum = 0;
  bool inside = false;
  const std::regex time(R"(([+-]?\d+\.\d+) ms)");
  for (const std::string& line : lines_of(text)) {
    if (line.rfind(heading, 0) == 0) {
      inside = true;
      continue;
    }
    std::smatch match;
    if (!inside || !std::regex_search(line, match, time)) continue;
    if (line.find(last) != std::string::npos) return {sum, std::stod(match[1])};
    sum += std::stod(match[1]);
  }
  return {sum, std::nan("")};
}

TEST(RunText, ShowsTheEfficiencyBeforeAnyOtherFigure) {
  const std::string text = run_text(example_run(), {});
  const std::size_t efficiency = text.find("efficiency 11.8% against 1 GPU");
  ASSERT_NE(efficiency, std::string::npos);
  EXPECT_LT(efficiency, text.find("step time"));
  EXPECT_LT(text.find("provenance: measured, emulated-network, oversubscribed"), efficiency);
}

TEST(RunText, AnImportedThroughputHasNoBatchNoStepAndNoProbes) {
  const std::string text = run_text(example_imported_run(), {});
  EXPECT_NE(text.find("4,500 samples/s"), std::string::npos) << text;
  EXPECT_NE(text.find("ddbench did not record this run"), std::string::npos) << text;
  for (const char* made_up : {"batch 1", "global batch", "p50", "ranks differ", "spans dropped", "measured steps", "weak scaling"})
    EXPECT_EQ(text.find(made_up), std::string::npos) << made_up << "\n" << text;
}

TEST(RunText, TheCostOfTheProbesIsTheSameInTableAndNotes) {
  auto summary = example_run();
  summary.probe_overhead_percent = analyzer::Estimate{6.5, {1.2, 13.6, 0.95, "signed ranks"}};
  EXPECT_NE(run_text(summary, {}).find("6.5%, at most 13.6%"), std::string::npos);
}

TEST(RunText, SaysWhyAStepTimeHasNoInterval) {
  auto summary = example_run();
  summary.step_time_ns = analyzer::Quantity{103.4e6, Measured<ConfidenceInterval>::missing("one step dominates")};
  EXPECT_NE(run_text(summary, {}).find("no interval: one step dominates"), std::string::npos);
  const std::vector<Tile> tiles = run_tiles(summary);
  EXPECT_TRUE(std::any_of(tiles.begin(), tiles.end(), [](const Tile& tile) { return tile.detail == "no interval: one step dominates"; }));
}

TEST(CaseData, HasNoDefaultsThatSayNothing) {
  const auto names_of = [](const store::RunRecord& run) {
    std::string names;
    for (const auto& row : case_data(run).rows) names += row.front().text + " ";
    return names;
  };
  const std::string imported = names_of(example_imported_run().run);
  for (const char* field : {"lr ", "momentum ", "warmup ", "batch_per_gpu ", "bucket_bytes "}) {
    EXPECT_EQ(imported.find(field), std::string::npos) << imported;
    EXPECT_NE(names_of(example_run().run).find(field), std::string::npos) << field;
  }
  EXPECT_NE(imported.find("gpus_per_node "), std::string::npos) << imported;
}

TEST(RunText, ShowsPartsThatSumToTheShownStepAndLoss) {
  const std::string text = run_text(example_run(), {});
  const auto [parts, step] = parts_and_total(text, "Where a step goes", "step time");
  EXPECT_NEAR(parts, step, 1e-9);
  const auto [bars, lost] = parts_and_total(text, "Where time is lost", "lost in all");
  EXPECT_NEAR(bars, lost, 1e-9);
}

TEST(RunText, NamesTheLargestPartWhereNothingIsLost) {
  auto summary = example_run();
  summary.partition.ns.fill(0);
  summary.partition[store::StepPart::kForward] = 44'000'000;
  summary.partition[store::StepPart::kDataWait] = 56'000'000;
  analyzer::Efficiency efficiency = *summary.efficiency;
  efficiency.lost_ns = -800'000;
  summary.efficiency = efficiency;
  EXPECT_EQ(where_lost(summary),
            "nothing lost against 1 GPU: a step of 100.0 ms is 800.0 µs shorter than the ideal; the largest part of the "
            "step is data wait, 56.00 ms (56.0%)");
  summary.efficiency = Measured<analyzer::Efficiency>::missing("no baseline");
  EXPECT_EQ(run_verdict(summary),
            "Efficiency not known: no baseline; the largest part of the step is data wait, 56.00 ms (56.0%)");
}

TEST(RunText, IsLoudAboutWhatMustNotBeUsed) {
  EXPECT_NE(run_text(example_invalid_run(), {}).find("\nINVALID, do not use these figures: rank 0 of 16"),
            std::string::npos);
  EXPECT_NE(run_text(example_failed_run(), {}).find("\nFAILED: rank 3 (node 1) was killed by signal 9"),
            std::string::npos);
}

TEST(RunText, HasNoColoursUnlessAskedFor) {
  EXPECT_EQ(run_text(example_run(), {}).find('\x1b'), std::string::npos);
  EXPECT_NE(run_text(example_run(), {true, 100}).find('\x1b'), std::string::npos);
}

TEST(RunText, HasAColumnForTheAlgorithmOfCollectivesWhereItIsKnown) {
  analyzer::RunSummary run = example_run();
  EXPECT_EQ(run_text(run, {}).find("algorithm/protocol"), std::string::npos);
  run.collectives[1].record.nccl_algorithm = "RING LL128, 8 channels, socket";
  EXPECT_NE(run_text(run, {false, 160}).find("RING LL128, 8 channels, socket"), std::string::npos);
}

TEST(RunText, KeepsToTheWidth) {
  for (const int width : {40, 60, 80, 100, 200}) {
    for (const analyzer::RunSummary& run : {example_run(), example_baseline(), example_failed_run()}) {
      for (const std::string& line : lines_of(run_text(run, {false, width}))) {
        EXPECT_LE(display_width(line), static_cast<std::size_t>(width)) << line;
      }
    }
    for (const std::string& line : lines_of(scaling_text(example_weak_scaling(), {false, width}))) {
      EXPECT_LE(display_width(line), static_cast<std::size_t>(width)) << line;
    }
    for (const std::string& line : lines_of(run_list_text({example_run()}, {false, width}))) {
      EXPECT_LE(display_width(line), static_cast<std::size_t>(width)) << line;
    }
  }
}

TEST(Texts, LetNoNameActOnTheTerminal) {
  analyzer::ScalingTable table = example_weak_scaling();
  const analyzer::RunSummary hostile = example_hostile_run();
  table.rows[0].run_case = hostile.run.run_case;
  table.baseline = table.sweep_id = hostile.run.reason;
  table.notes = hostile.notes;
  for (const std::string& text : {run_text(hostile, {false, 200}), scaling_text(table, {false, 300}),
                                  run_list_text({hostile}, {false, 300})}) {
    for (const char c : text) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
    EXPECT_EQ(text.find('\x7f'), std::string::npos);
    EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << "C1 control sequence introducer";
    EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos) << "right-to-left override";
    EXPECT_EQ(text.find('\xff'), std::string::npos);
    EXPECT_NE(text.find("\\x1b[2J"), std::string::npos);
  }
}

TEST(RunListText, SaysThatThereIsNothing) {
  EXPECT_EQ(run_list_text({}, {}), "no runs\n");
}

TEST(Collectives, HaveAColumnOfTheRatedLinkWhereOneIsAskedFor) {
  analyzer::RunSummary run = example_run();
  ASSERT_FALSE(run.collectives.empty());
  run.collectives.front().record.function = "all_reduce";
  run.collectives.front().communicator.clear();
  run.collectives.front().busbw_gb_per_s = 150.0;
  const auto cell_of = [&](const Measured<analyzer::RatedLink>& link) {
    const DataTable table = collectives_data(run, &link);
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].title == "of link") return table.rows.front()[i];
    }
    return missing_cell("no such column");
  };
  EXPECT_EQ(cell_of(analyzer::RatedLink{200, "a link"}).text, "75.0%");
  EXPECT_EQ(cell_of(Measured<analyzer::RatedLink>::missing("one node")).why, "one node");
  run.collectives.front().record.function = "all_to_all";
  EXPECT_NE(cell_of(analyzer::RatedLink{200, "a link"}).why.find("no rate of a link"), std::string::npos);
  for (const auto& column : collectives_data(run).columns) EXPECT_NE(column.title, "of link");
}

TEST(Measures, HaveTheRateThatAProgramApplied) {
  analyzer::RunSummary run = example_run();
  run.learning_rates = {{0, 0.05}, {1, 0.2}, {2, 0.1}};
  const std::string text = run_text(run, {});
  EXPECT_NE(text.find("recorded in each step: 0.05"), std::string::npos) << text;
  EXPECT_NE(text.find("at most 0.2"), std::string::npos) << text;
}

}  // namespace
}  // namespace ddbench::reports
