#include "reports/formats/csv/csv.h"

#include <gtest/gtest.h>

#include <map>

#include "core/error.h"
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
