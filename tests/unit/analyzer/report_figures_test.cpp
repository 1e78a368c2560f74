#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/finalize/finalize.h"
#include "analyzer/run/run_figures.h"
#include "analyzer/scaling/sweep_figures.h"
#include "synthetic_run.h"

namespace ddbench::analyzer {
namespace {

ScalingRow row(int nodes, int gpus, double efficiency, const std::string& link = {},
               std::int64_t batch = 64) {
  ScalingRow result;
  result.run_case.nodes = nodes;
  result.run_case.gpus_per_node = gpus;
  result.run_case.link = link;
  result.run_case.batch_per_gpu = batch;
  result.world_size = nodes * gpus;
  result.repetitions = 1;
  result.efficiency = efficiency;
  result.speedup = efficiency * result.world_size;
  result.provenance = {Provenance::kMeasured};
  return result;
}

std::vector<std::string> names(const Figure& figure) {
  std::vector<std::string> result;
  for (const Series& series : figure.series) result.push_back(series.name);
  return result;
}

using Names = std::vector<std::string>;

TEST(ScalingCurves, JoinOnlyRowsThatDifferInSizeAlone) {
  ScalingTable table;
  table.rows = {row(1, 1, 1), row(2, 1, 0.9, "1gbit"), row(2, 1, 0.5, "100mbit"), row(4, 1, 0.8, "1gbit"),
                row(4, 1, 0.3, "100mbit")};
  const Figure figure = scaling_efficiency(table);
  EXPECT_EQ(names(figure), (Names{"one node", "1gbit", "100mbit", "ideal"}));
  for (const Series& series : figure.series) {
    const auto not_rising = [](const Point& a, const Point& b) { return a.x >= b.x; };
    EXPECT_EQ(std::adjacent_find(series.points.begin(), series.points.end(), not_rising),
              series.points.end());
  }
  EXPECT_DOUBLE_EQ(figure.series[2].points[1].y, 30);
  EXPECT_EQ(figure.series[3].points.size(), 3u);
}

TEST(ScalingCurves, ShowShapesOfOneSizeApart) {
  ScalingTable table;
  table.rows = {row(1, 1, 1), row(1, 4, 0.9), row(2, 2, 0.8), row(4, 1, 0.7)};
  EXPECT_EQ(names(scaling_efficiency(table)),
            (Names{"1 GPU a node", "4 GPUs a node", "2 GPUs a node", "ideal"}));
}

TEST(ScalingCurves, NameBatchAndProvenanceWhereTheyVary) {
  ScalingTable table;
  table.rows = {row(1, 1, 1), row(1, 1, 1, "", 128), row(1, 2, 0.9), row(1, 2, 0.95, "", 128)};
  table.rows[3].provenance.add(Provenance::kOversubscribed);
  EXPECT_EQ(names(scaling_efficiency(table)), (Names{"batch 64 (measured)", "batch 128 (measured)",
                                                     "batch 128 (measured, oversubscribed)", "ideal"}));
}

TEST(SpeedupFigure, CountsTheIdealFromTheSmallestSize) {
  ScalingTable table;
  table.rows = {row(1, 2, 1), row(1, 4, 0.9), row(2, 4, 0.5)};
  for (ScalingRow& each : table.rows) each.speedup = *each.efficiency * each.world_size / 2;
  const Figure figure = speedup_figure(table);
  ASSERT_EQ(names(figure), (Names{"measured", "ideal"}));
  EXPECT_DOUBLE_EQ(figure.series[0].points[2].y, 2);
  EXPECT_DOUBLE_EQ(figure.series[1].points[2].y, 4);
  EXPECT_TRUE(figure.x.logarithmic && figure.y.logarithmic);
}

TEST(SpeedupFigure, OfATableWithoutFiguresIsEmpty) {
  ScalingTable table;
  table.rows = {row(1, 1, 1)};
  table.rows[0].speedup = Measured<double>::missing("failed");
  EXPECT_TRUE(speedup_figure(table).series.empty());
}

class RunFigures : public testing::Test {
 protected:
  void SetUp() override {
    run_.set_world(1, 2);
    run_.probe_off_every = 4;
    run_.store_into(scratch_.get());
    finalize_run(scratch_.get(), run_.id);
    summary_ = summarize(scratch_.get(), run_.id);
    steps_ = scratch_.get().steps(run_.id);
  }

  ScratchStore scratch_;
  SyntheticRun run_;
  RunSummary summary_;
  std::vector<store::StepRecord> steps_;
};

TEST_F(RunFigures, StepTimeShowsTheMeasuredStepsOnSlowestAndFastestRank) {
  const Figure figure = step_time_figure(summary_, steps_);
  ASSERT_EQ(names(figure), (Names{"slowest rank", "fastest rank"}));
  ASSERT_EQ(figure.series[0].points.size(), static_cast<std::size_t>(summary_.measured_steps));
  EXPECT_EQ(figure.series[0].points[0].x, run_.run_case.warmup);
  for (std::size_t i = 0; i < figure.series[0].points.size(); ++i) {
    EXPECT_GE(figure.series[0].points[i].y, figure.series[1].points[i].y);
    EXPECT_DOUBLE_EQ(figure.series[0].points[i].y, 0.06);
  }
}

TEST_F(RunFigures, LossIsTheMeanOverRanks) {
  const Figure figure = loss_figure(summary_, steps_);
  ASSERT_EQ(figure.series.size(), 1u);
  ASSERT_EQ(figure.series[0].points.size(), static_cast<std::size_t>(run_.run_case.total_steps()));
  EXPECT_NEAR(figure.series[0].points[3].y, 2 - 0.03 + 0.25, 1e-12);
}

TEST_F(RunFigures, RankPartitionsSumToTheStepTime) {
  const Figure figure = rank_partition_figure(summary_, steps_);
  ASSERT_EQ(figure.series.size(), static_cast<std::size_t>(store::kStepPartCount));
  for (const std::size_t rank : {0u, 1u}) {
    double sum_ms = 0;
    for (const Series& series : figure.series) sum_ms += series.points.at(rank).y;
    EXPECT_NEAR(sum_ms, 0.06, 1e-9);
  }
}

TEST_F(RunFigures, CasePartitionIsTheMeanOfValidRuns) {
  ScalingTable table;
  table.rows.resize(1);
  table.rows[0].run_case = summary_.run.run_case;
  table.rows[0].world_size = 2;
  RunSummary twice = summary_;
  for (std::int64_t& part : twice.partition.ns) part *= 4;
  twice.step_time_ns = Quantity{4 * summary_.step_time_ns->value};
  twice.samples_per_s = twice.work_per_s = *summary_.samples_per_s / 4;
  RunSummary invalid = twice;
  invalid.run.valid = false;
  const Figure figure = case_partition_figure(table, std::vector{summary_, twice, invalid});
  double sum_ms = 0;
  for (const Series& series : figure.series) sum_ms += series.points.at(0).y;
  EXPECT_NEAR(sum_ms, 0.12, 1e-9) << "the geometric mean of 60 and 240 us";
  EXPECT_EQ(figure.series[0].points[0].label, "1 × 2");
}

TEST_F(RunFigures, BusBandwidthSkipsWhatHasNone) {
  Figure figure = bus_bandwidth_figure(summary_);
  ASSERT_EQ(figure.series.size(), 1u);
  EXPECT_DOUBLE_EQ(figure.series[0].points[0].y, 1e9 * *summary_.collectives[0].busbw_gb_per_s);
  EXPECT_EQ(figure.series[0].points[0].label, "bucket 0, 4.00 MB");
  summary_.collectives[0].busbw_gb_per_s = Measured<double>::missing("one rank uses no bus");
  figure = bus_bandwidth_figure(summary_);
  EXPECT_TRUE(figure.series.empty());
  EXPECT_EQ(figure.notes, (Names{"one rank uses no bus"}));
}

TEST(RunFiguresOfAnEmptyRun, SayWhy) {
  const RunSummary nothing;
  for (const Figure& figure : {step_time_figure(nothing, {}), loss_figure(nothing, {}),
                               rank_partition_figure(nothing, {}), bus_bandwidth_figure(nothing)}) {
    EXPECT_TRUE(figure.series.empty());
    EXPECT_EQ(figure.notes.size(), 1u) << figure.title;
  }
}

}  // namespace
}  // namespace ddbench::analyzer
