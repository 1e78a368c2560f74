#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/collectives/micro_table.h"
#include "analyzer/run/run_figures.h"
#include "example_analysis.h"
#include "example_summary.h"
#include "reports/chart/chart.h"
#include "reports/formats/terminal/text.h"
#include "reports/tables/analysis/analysis_tables.h"
#include "reports/tables/analysis/columns.h"
#include "reports/tables/gate/gate_words.h"
#include "reports/tables/run_content.h"
#include "reports/tables/sweep_content.h"
#include "reports/text/phrases.h"

namespace ddbench::reports {
namespace {

std::vector<std::string> column_of(const DataTable& table, const std::string& title) {
  const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                  [&](const DataColumn& column) { return column.title == title; });
  std::vector<std::string> texts;
  if (found == table.columns.end()) return texts;
  for (const auto& row : table.rows) texts.push_back(row[static_cast<std::size_t>(found - table.columns.begin())].text);
  return texts;
}

/// Rounded one by one, these parts would sum to 0.02 ms more than what was lost.
constexpr std::int64_t kParts_ns[] = {785'400, 1'855'400, 615'400, 95'400, 6'274'400};

store::StepPartition lost_parts() {
  store::StepPartition lost;
  std::copy(std::begin(kParts_ns), std::end(kParts_ns), lost.ns.begin());
  return lost;
}

TEST(Tables, AChartAndBothTablesOfALossHaveTheSameDigits) {
  analyzer::RunSummary run = example_run();
  analyzer::Efficiency efficiency = *run.efficiency;
  efficiency.waterfall = lost_parts();
  efficiency.lost_ns = lost_parts().total_ns();
  efficiency.loss_intervals = Measured<analyzer::LossIntervals>::missing("one run");
  run.efficiency = efficiency;
  const std::vector<std::string> of_run = column_of(loss_data(run), "lost");

  analyzer::ScalingCurve curve = example_curve();
  analyzer::CurveRow& row = curve.rows.back();
  row.waterfall = lost_parts();
  row.lost_ns = lost_parts().total_ns();
  row.loss_intervals = Measured<analyzer::LossIntervals>::missing("one run");
  const DataTable of_curve = lost_by_size_data(curve, 10).front();

  const svg::Chart chart = svg::make_chart(analyzer::waterfall_figure(run));
  ASSERT_EQ(chart.end_labels.size(), store::kStepPartCount + 1U);
  for (std::size_t i = 0; i < std::size(kParts_ns); ++i) {
    EXPECT_EQ(of_curve.rows[i].back().text, of_run[i]);
    EXPECT_EQ(chart.end_labels[i].text, of_run[i]);
    EXPECT_NE(chart.bars[i].tip.find(of_run[i]), std::string::npos) << chart.bars[i].tip;
  }
  EXPECT_EQ(of_curve.total->back().text, "+9.63 ms");
  EXPECT_EQ(chart.end_labels.back().text, "+9.63 ms");
}

TEST(Tables, AStackOfPartsEndsWithTheStepTimeOfTheReport) {
  analyzer::RunSummary run = example_run();
  run.partition = {};
  run.partition[store::StepPart::kForward] = 5'000'400;
  run.partition[store::StepPart::kBackward] = 9'608'600;
  const svg::Chart chart = svg::make_chart(analyzer::partition_figure(run));
  ASSERT_EQ(chart.end_labels.size(), 1U);
  EXPECT_EQ(chart.end_labels[0].text, "14.61 ms");
  EXPECT_EQ(chart.end_labels[0].text, time_in_words(14'609'000));
}

TEST(Tables, ValuesHaveTheSameDigitsInComparisonsGatesAndLists) {
  analyzer::Comparison comparison = example_comparison();
  comparison.figures[0].a = 43'071'000.0;
  const DataTable figures = compared_data("What changed", comparison.figures, 10);
  EXPECT_EQ(figures.rows[0][1].text, "43.07 ms");
  EXPECT_EQ(metric_value(analyzer::RunMetric::kStepTime, 43'071'000), "43.07 ms");
  EXPECT_EQ(metric_value(analyzer::RunMetric::kThroughput, 392.24), "392.2 samples/s");
  EXPECT_EQ(value_in_words(1.5e6, "bytes"), "1.50 MB");
}

TEST(Tables, UsdHaveCentsOnlyWhereTheseMatter) {
  EXPECT_EQ(usd_cell(785.081).text, "785.08");
  EXPECT_EQ(usd_cell(5785.08).text, "5,785");
  EXPECT_EQ(usd_cell(0.01234, 4).text, "0.0123");
  EXPECT_EQ(usd_cell(Measured<double>::missing("no price")).text, "–");
}

analyzer::ScalingTable three_links() {
  analyzer::ScalingTable table = example_weak_scaling();
  table.rows.pop_back();  // the one that failed
  analyzer::ScalingRow& free = table.rows.back();
  free.run_case.link.clear();
  free.efficiency = 0.35;
  for (const auto& [link, efficiency] : {std::pair("10gbit", 0.343), std::pair("1gbit", 0.117)}) {
    table.rows.push_back(table.rows[2]);
    table.rows.back().run_case.link = link;
    table.rows.back().efficiency = efficiency;
  }
  return table;
}

TEST(SweepReports, NameTheCaseOfTheirHeadline) {
  SweepReport report;
  report.table = three_links();
  const std::string which = "4 × 4, link not shaped; the best of 3 cases of this size, which have 11.7% to 35.0%";
  EXPECT_EQ(largest_case_in_words(report.table, *analyzer::largest_compared(report.table)), which);
  EXPECT_NE(sweep_verdict(report).find(which), std::string::npos) << sweep_verdict(report);
  EXPECT_NE(sweep_tiles(report)[0].detail.find(which), std::string::npos) << sweep_tiles(report)[0].detail;
  report.table.rows.resize(3);
  EXPECT_EQ(sweep_verdict(report).find("best of"), std::string::npos) << "there is one case of this size";
}

TEST(RunLists, CountRepetitionsAsTheyAreStored) {
  std::vector<analyzer::RunSummary> runs(2, example_run());
  runs[1].run.repetition = 1;
  EXPECT_EQ(column_of(runs_data(runs), "repetition"), (std::vector<std::string>{"0", "1"}));
}

TEST(RunLists, SayHowManyRunsTheyLeaveOut) {
  EXPECT_EQ(part_of_list(20, 81), "20 of 81 runs, newest first");
  EXPECT_EQ(part_of_list(20, 20), "");
  const std::vector<analyzer::RunSummary> runs(2, example_run());
  EXPECT_NE(run_list_text(runs, {}, 1081).find("2 of 1,081 runs, newest first; --limit 0 shows all\n"), std::string::npos);
  EXPECT_EQ(run_list_text(runs, {}, 2).find("--limit"), std::string::npos);
}

TEST(RunLists, HaveNamesOnNarrowTerminals) {
  analyzer::RunSummary run = example_run();
  run.run.run_case.name = "nightly";
  const std::string narrow = run_list_text({run}, {false, 80});
  EXPECT_NE(narrow.find("nightly"), std::string::npos) << narrow;
  EXPECT_EQ(narrow.find(run.run.id), std::string::npos) << narrow;
  EXPECT_NE(narrow.find(short_id(run.run.id)), std::string::npos) << narrow;
  EXPECT_NE(run_list_text({run}, {false, 80, true}).find(run.run.id), std::string::npos) << "a pipe has room";
  EXPECT_NE(run_list_text({run}, {false, 160}).find(run.run.id), std::string::npos);
}

analyzer::MicroTable measured_collectives() {
  analyzer::MicroTable micro;
  micro.ranks = 2;
  analyzer::MicroTiming timing;
  timing.time_ns = 134'100;
  timing.algbw_gb_per_s = timing.busbw_gb_per_s = 64.6e-6;
  analyzer::MicroRow row;
  row.bytes = 8;
  row.out_of_place = timing;
  timing.busbw_gb_per_s = 0.5;
  row.in_place = timing;
  micro.rows = {row};
  row.operation = analyzer::MicroOperation::kAllToAll;
  row.in_place.reset();
  micro.rows.push_back(row);
  micro.ceilings = {{analyzer::MicroOperation::kGemm, 94.92e9, 92e9}, {analyzer::MicroOperation::kCopy, 4.26e9, 2.92e9}};
  return micro;
}

TEST(MicroTables, HaveAllThatWasMeasured) {
  const std::vector<DataTable> tables = micro_tables(measured_collectives());
  ASSERT_EQ(tables.size(), 2U) << "no fit without several sizes";
  EXPECT_EQ(column_of(tables[0], "out of place"), (std::vector<std::string>{"134.1 µs", "134.1 µs"}));
  EXPECT_EQ(column_of(tables[0], "in place"), (std::vector<std::string>{"134.1 µs", "–"}));
  EXPECT_EQ(column_of(tables[0], "bus bandwidth")[0], "64.6 kB/s");
  EXPECT_EQ(tables[1].rows[0][1].text, "94.92 GFLOP/s");
  EXPECT_EQ(tables[1].rows[1][2].text, "2.92 GB/s");
  const std::vector<Tile> tiles = micro_tiles(measured_collectives());
  ASSERT_EQ(tiles.size(), 3U);
  EXPECT_EQ(tiles[0].value, "500 MB/s");
  EXPECT_EQ(tiles[0].detail, "all_reduce of 8.00 B");
}

}  // namespace
}  // namespace ddbench::reports
