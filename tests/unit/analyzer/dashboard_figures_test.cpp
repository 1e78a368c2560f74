// Curves in groups, collectives over size, partitions beside each other: what the dashboard draws beside the
// reports'.

#include <gtest/gtest.h>

#include <numeric>

#include "analyzer/batch/batch_figures.h"
#include "analyzer/comparison/collective_curves.h"
#include "analyzer/scaling/curve_groups.h"
#include "analyzer/scaling/run_set_figures.h"
#include "core/error.h"
#include "stored_runs.h"
#include "synthetic_run.h"

namespace ddbench::analyzer {
namespace {

using test::add_run;
using test::sized;
using test::StoredRun;

StoredRun run_on(int nodes, int gpus, const std::string& link, double step_ms, double exposed_ms = 10) {
  StoredRun run;
  run.run_case = sized(nodes, gpus);
  run.run_case.link = link;
  run.step_ms = step_ms;
  run.exposed_ms = exposed_ms;
  return run;
}

std::vector<store::RunRecord> oldest_first(const store::RunStore& store) {
  auto runs = store.runs();
  return {runs.rbegin(), runs.rend()};
}

/// One node without a link, and four sizes over each of two links.
void add_two_links(store::RunStore& store) {
  add_run(store, run_on(1, 1, "", 100, 0));
  for (const int nodes : {2, 4, 8}) {
    add_run(store, run_on(nodes, 1, "10gbit", 100 + 2.0 * nodes));
    add_run(store, run_on(nodes, 1, "1gbit", 100 + 20.0 * nodes));
  }
}

double sum_of(const Series& series) {
  return std::accumulate(series.points.begin(), series.points.end(), 0.0,
                         [](double sum, const Point& point) { return sum + point.y; });
}

TEST(CurveGroups, RunsOnOneNodeBelongToTheCurveOfEveryLink) {
  ScratchStore scratch;
  add_two_links(scratch.get());
  const auto runs = oldest_first(scratch.get());
  EXPECT_EQ(varied_fields(runs), std::vector<std::string>{"link"});
  const CurveGroups groups = curve_groups(scratch.get(), runs, {"link"});
  ASSERT_EQ(groups.groups.size(), 2u);
  EXPECT_EQ(groups.groups[0].label, "10gbit");
  EXPECT_EQ(groups.groups[1].label, "1gbit");
  for (const CurveGroup& group : groups.groups) {
    ASSERT_EQ(group.curve.rows.size(), 4u);
    EXPECT_EQ(group.curve.rows[0].world_size, 1);
    EXPECT_NEAR(group.curve.rows[0].efficiency, 1, 1e-12);
  }
  EXPECT_NEAR(groups.groups[0].curve.rows[3].efficiency, 100.0 / 116, 1e-6);
  EXPECT_NEAR(groups.groups[1].curve.rows[3].efficiency, 100.0 / 260, 1e-6);
}

TEST(CurveGroups, OneFigureHoldsTheIdealOnceAndEveryGroupWithItsLaw) {
  ScratchStore scratch;
  add_two_links(scratch.get());
  const CurveGroups groups = curve_groups(scratch.get(), oldest_first(scratch.get()), {"link"});
  const Figure figure = speedup_figure(groups);
  ASSERT_EQ(figure.series.size(), 11u);
  EXPECT_EQ(figure.series[0].name, "ideal");
  EXPECT_EQ(figure.series[1].name, "10gbit");
  // A round of eight colours later: the law is drawn in the colour of its points.
  EXPECT_EQ(figure.series[9].name.rfind("10gbit: ", 0), 0u) << figure.series[9].name;
  EXPECT_EQ(figure.series[10].name.rfind("1gbit: ", 0), 0u) << figure.series[10].name;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_DOUBLE_EQ(figure.series[2].points[i].y, groups.groups[1].curve.rows[i].speedup);
  }
}

TEST(CurveGroups, WhatIsNoCurveIsNamedAndOnlyNothingIsAnError) {
  ScratchStore scratch;
  add_two_links(scratch.get());
  StoredRun failed = run_on(4, 1, "100mbit", 900);
  failed.state = store::RunState::kFailed;
  failed.reason = "rank 1 was lost";
  add_run(scratch.get(), failed);
  const auto runs = oldest_first(scratch.get());
  const CurveGroups groups = curve_groups(scratch.get(), runs, {"link"});
  EXPECT_EQ(groups.groups.size(), 3u);  // of the third only the size on one node has figures
  EXPECT_THROW(curve_groups(scratch.get(), runs, {}), Error);
  EXPECT_THROW(curve_groups(scratch.get(), runs, {"colour"}), Error);
  EXPECT_THROW(curve_groups(scratch.get(), {}, {"link"}), Error);
}

TEST(CurveGroups, AWaterfallBetweenTwoSizesSumsToWhatWasLost) {
  ScratchStore scratch;
  add_two_links(scratch.get());
  const CurveGroups groups = curve_groups(scratch.get(), oldest_first(scratch.get()), {"link"});
  const ScalingCurve& curve = groups.groups[1].curve;
  const Figure figure = waterfall_figure(curve, 3);
  ASSERT_EQ(figure.series.size(), 2u);
  EXPECT_NEAR(sum_of(figure.series[0]), 160, 1e-6);  // 260 ms against 100
  EXPECT_NEAR(sum_of(figure.series[1]), 160, 1e-6);
  EXPECT_THROW(waterfall_figure(curve, 4), std::out_of_range);
}

TEST(RunSetFigures, PartitionsStandBesideEachOtherAndRepetitionsAreNumbered) {
  ScratchStore scratch;
  add_run(scratch.get(), run_on(2, 1, "1gbit", 100, 30));
  add_run(scratch.get(), run_on(2, 1, "1gbit", 120, 40));
  std::vector<RunSummary> summaries;
  for (const auto& run : oldest_first(scratch.get()))
    summaries.push_back(summarize_briefly(scratch.get(), run));
  const Figure figure = partitions_figure(summaries);
  double totals[2] = {0, 0};
  for (const Series& series : figure.series) {
    for (const Point& point : series.points) totals[static_cast<int>(point.x)] += point.y;
  }
  EXPECT_NEAR(totals[0], 100, 1e-6);
  EXPECT_NEAR(totals[1], 120, 1e-6);
  EXPECT_EQ(figure.series[0].points[0].label, "2 × 1, 1gbit");
  EXPECT_EQ(figure.series[0].points[1].label, "2 × 1, 1gbit (2)");
}

TEST(RunSetFigures, LabelsDistinguishRuns) {
  std::vector<store::RunRecord> runs(3);
  runs[1].run_case.strategy = "zero2";
  runs[2].run_case.strategy = "zero2";
  runs[2].run_case.batch_per_gpu = 32;
  EXPECT_EQ(distinguishing_labels(std::span(runs).first(1)), std::vector<std::string>{"1 × 1"});
  EXPECT_EQ(distinguishing_labels(std::span(runs).first(2)),
            (std::vector<std::string>{"1 × 1, ddp", "1 × 1, zero2"}));
  EXPECT_EQ(distinguishing_labels(runs),
            (std::vector<std::string>{"1 × 1, batch per GPU 64, ddp", "1 × 1, batch per GPU 64, zero2",
                                      "1 × 1, batch per GPU 32, zero2"}));
  runs[0].run_case.work = ReferenceWorkload{"resnet18"};
  EXPECT_EQ(distinguishing_labels(std::span(runs).first(2)),
            (std::vector<std::string>{"1 × 1, resnet18, ddp", "1 × 1, mlp, zero2"}));
}

store::CollectiveRecord all_reduce(std::uint64_t bytes, std::int64_t transfer_ns) {
  store::CollectiveRecord record;
  record.function = "all_reduce";
  record.bytes = bytes;
  record.count = 10;
  record.transfer_ns = transfer_ns;
  record.duration_ns = transfer_ns;
  return record;
}

TEST(CollectiveCurves, FitsLatencyAndBandwidthAndDrawsTheCeiling) {
  ScratchStore scratch;
  StoredRun run = run_on(2, 1, "1gbit", 100);
  for (const std::uint64_t bytes : {1'000u, 10'000u, 100'000u, 1'000'000u}) {
    run.collectives.push_back(all_reduce(bytes, 50'000 + static_cast<std::int64_t>(10 * bytes)));
  }
  add_run(scratch.get(), run);
  StoredRun alone = run_on(1, 1, "", 100);
  alone.collectives = {all_reduce(1000, 300)};
  add_run(scratch.get(), alone);
  std::vector<RunSummary> summaries;
  for (const auto& each : oldest_first(scratch.get()))
    summaries.push_back(summarize_briefly(scratch.get(), each));
  const CollectiveCurves curves = collective_curves(summaries);
  ASSERT_EQ(curves.curves.size(), 1u) << "one rank sends nothing";
  EXPECT_EQ(curves.curves[0].label, "2 × 1, 1gbit") << "the function is the same for all";
  ASSERT_EQ(curves.curves[0].fits.size(), 1u);
  EXPECT_NEAR(curves.curves[0].fits[0].regimes.front().latency_ns, 50'000, 500);
  EXPECT_NEAR(curves.curves[0].fits[0].regimes.front().ns_per_byte, 10, 0.1);
  ASSERT_TRUE(curves.link_ceiling_gb_per_s);
  EXPECT_DOUBLE_EQ(*curves.link_ceiling_gb_per_s, 0.125);
  const Figure bandwidth = collective_bandwidth_figure(curves);
  ASSERT_EQ(bandwidth.series.size(), 2u);
  EXPECT_NEAR(bandwidth.series[0].points.back().y, 1e6 / (50'000 + 1e7) * 1e9,
              1);  // busbw = algbw on two ranks
  EXPECT_EQ(bandwidth.series[1].name, "link ceiling");
  EXPECT_DOUBLE_EQ(bandwidth.series[1].points[0].y, 0.125e9);
  EXPECT_EQ(collective_time_figure(curves).series.size(), 2u);
  EXPECT_FALSE(collective_time_figure(collective_curves({})).notes.empty());
}

TEST(CollectiveCurves, LinkRatesAreReadAndOtherTextsAreNot) {
  EXPECT_DOUBLE_EQ(*link_gb_per_s("100mbit"), 0.0125);
  EXPECT_DOUBLE_EQ(*link_gb_per_s("2.5gbit"), 0.3125);
  for (const char* wrong : {"", "gbit", "10", "fast", "-1gbit", "1 gbit"})
    EXPECT_FALSE(link_gb_per_s(wrong)) << wrong;
}

TEST(BatchFigures, TimeToTheTargetHasASeriesANumberOfGpus) {
  BatchCurve curve;
  for (const int gpus : {1, 2}) {
    for (const int batch : {32, 64}) {
      BatchRow row;
      row.world_size = gpus;
      row.global_batch = batch;
      row.time_s = 100.0 / gpus + batch;
      curve.rows.push_back(row);
    }
  }
  curve.rows.back().time_s = Measured<double>::missing("no run reached the target");
  const Figure figure = time_to_target_figure(curve);
  ASSERT_EQ(figure.series.size(), 2u);
  EXPECT_EQ(figure.series[0].points.size(), 2u);
  ASSERT_EQ(figure.series[1].points.size(), 1u);
  EXPECT_DOUBLE_EQ(figure.series[1].points[0].y, 82);
  EXPECT_EQ(figure.notes.size(), 1u);
  EXPECT_TRUE(time_to_target_figure({}).series.empty());
}

}  // namespace
}  // namespace ddbench::analyzer
