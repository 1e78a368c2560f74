#include "reports/formats/csv/csv.h"

#include <gtest/gtest.h>

#include <map>

#include "core/error.h"
#include "core/facts/facts.h"
#include "parsed_csv.h"
#include "sample_store_test.h"

namespace ddbench::reports {
namespace {

using Rows = std::vector<std::map<std::string, std::string>>;

Rows named(const std::string& text) {
  const auto rows = test::parsed_csv(text);
  Rows result;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows[0].size(); ++j) result.resize(i), result[i - 1][rows[0][j]] = rows[i][j];
  }
  return result;
}

class Csv : public test::SampleStore {};

TEST_F(Csv, HasARowForEachRunWithItsFigures) {
  std::vector<analyzer::RunSummary> runs;
  for (const store::RunId& id : ids()) runs.push_back(analyzer::summarize(store(), id));
  const Rows rows = named(runs_csv(runs));
  ASSERT_EQ(rows.size(), runs.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Rows::value_type row = rows[i];
    EXPECT_EQ(row["run_id"], ids()[i]);
    EXPECT_EQ(row["sweep_id"], sweep_id());
    EXPECT_NEAR(std::stod(row["step_time_ns"]), runs[i].step_time_ns->value, 1);
    std::int64_t sum_ns = 0;
    for (const char* part :
         {"forward_ns", "backward_ns", "optimizer_ns", "other_compute_ns", "cpu_wait_ns", "exposed_transfer_ns",
          "exposed_peer_wait_ns", "copy_ns", "data_wait_ns", "host_ns", "idle_ns"}) {
      sum_ns += std::stoll(row[part]);
    }
    EXPECT_EQ(std::to_string(sum_ns), row["partition_step_ns"]);
  }
  EXPECT_EQ(Rows::value_type(rows[1])["started"].substr(10, 1), "T");
  EXPECT_NEAR(std::stod(Rows::value_type(rows[1])["efficiency"]), runs[1].efficiency->value, 1e-6);
}

TEST_F(Csv, AMissingValueIsAnEmptyCellAndHasAReason) {
  const Rows rows = named(runs_csv(std::vector{analyzer::summarize(store(), ids()[0])}));
  Rows::value_type row = rows.at(0);
  EXPECT_EQ(row["efficiency"], "");
  EXPECT_EQ(row["peer_wait_ns"], "");
  EXPECT_NE(row["missing"].find("efficiency: the run has 1 GPU"), std::string::npos) << row["missing"];
}

TEST_F(Csv, OfAnImportedThroughputOnlyWhatItsSourceStates) {
  analyzer::RunSummary summary;
  summary.run.id = "i";
  summary.run.provenance = {Provenance::kImported};
  summary.run.run_case.work = ReferenceWorkload{.name = "resnet50", .batch_is_known = false};
  summary.measured_steps = 1;
  summary.samples_per_s = summary.work_per_s = 4500;
  summary.step_time_ns = analyzer::Quantity{2e6, Measured<ConfidenceInterval>::missing("one")};
  summary.distribution = Measured<analyzer::StepDistribution>::missing(analyzer::kOneMean);
  Rows::value_type row = named(runs_csv(std::vector{summary})).at(0);
  for (const char* column : {"batch_per_gpu", "global_batch", "lr", "seed", "bucket_bytes", "step_p50_ns", "step_max_ns", "rank_skew_ns"})
    EXPECT_EQ(row[column], "") << column;
  EXPECT_EQ(row["step_time_ns"], "2000000");
  EXPECT_EQ(row["samples_per_s"], "4500");
  EXPECT_NE(row["missing"].find("step_p50_ns: the source gives one mean"), std::string::npos) << row["missing"];
  summary.step_time_ns = Measured<analyzer::Quantity>::missing("no batch");
  row = named(runs_csv(std::vector{summary})).at(0);
  EXPECT_EQ(row["step_time_ns"], "");
  EXPECT_EQ(row["samples_per_s"], "4500");
}

TEST_F(Csv, HasARowForEachStepAndRank) {
  std::string text;
  write_steps_csv(store(), ids(), [&](std::string_view piece) { text += piece; });
  const Rows rows = named(text);
  std::size_t expected = 0;
  for (const store::RunId& id : ids()) expected += store().steps(id).size();
  ASSERT_EQ(rows.size(), expected);
  EXPECT_EQ(rows.size(), 25u * (1 + 2 + 2 + 4));
  Rows::value_type row = rows[7];
  EXPECT_EQ(row["step"], "7");
  EXPECT_EQ(row["measured"], "1");
  EXPECT_EQ(Rows::value_type(rows[2])["measured"], "0");
  EXPECT_GT(std::stod(row["loss"]), 0);
}

TEST_F(Csv, TheWarmUpOfARunThatContinuesAnotherIsNotMeasured) {
  const store::RunRecord whole = store().run(ids()[0]).value();
  ASSERT_EQ(whole.run_case.warmup, 5);
  store::RunRecord continued = whole;
  set_fact(continued.environment.facts, fact_key<"resumed.at_step">, 7);
  store().update_run(continued);
  std::string text;
  write_steps_csv(store(), std::vector{ids()[0]}, [&](std::string_view piece) { text += piece; });
  store().update_run(whole);
  const Rows rows = named(text);
  EXPECT_EQ(Rows::value_type(rows.at(11))["measured"], "0");
  EXPECT_EQ(Rows::value_type(rows.at(12))["measured"], "1");
}

TEST_F(Csv, HasARowForEachKindOfCollective) {
  const Rows rows = named(collectives_csv(std::vector{analyzer::summarize(store(), ids()[1])}));
  ASSERT_EQ(rows.size(), 3u);
  Rows::value_type row = rows[0];
  EXPECT_EQ(row["function"], "all_reduce");
  EXPECT_EQ(row["bytes"], "1000000");
  EXPECT_NEAR(std::stod(row["algbw_bytes_per_s"]), 1e6 / std::stod(row["transfer_ns"]) * 1e9, 1e3);
}

TEST_F(Csv, OfNothingIsTheHeading) {
  EXPECT_EQ(named(runs_csv({})).size(), 0u);
  analyzer::RunSummary summary;
  summary.run.id = "e";
  EXPECT_EQ(named(runs_csv(std::vector{summary})).size(), 1u);
  EXPECT_THROW(write_steps_csv(store(), std::vector<store::RunId>{"nosuch"}, [](std::string_view) {}), Error);
}

}  // namespace
}  // namespace ddbench::reports
