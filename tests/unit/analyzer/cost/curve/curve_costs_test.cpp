#include "analyzer/cost/curve/curve_costs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "core/error.h"
#include "stored_runs.h"
#include "temporary_directory.h"
#include "text.h"

namespace ddbench::analyzer {
namespace {

using test::add_run;
using test::contains;
using test::run_of;
using test::sized;

constexpr const char* kSku = "Standard_ND96asr_v4";

class CurveCost : public testing::Test {
 protected:
  /// Three runs of each size; step times grow by 2 ms with each doubling of nodes.
  void SetUp() override {
    for (const auto& [nodes, step_ms] : {std::pair{1, 100.0}, {2, 102.0}, {4, 104.0}}) {
      for (const double noise : {-0.1, 0.0, 0.1}) {
        RunCase run_case = sized(nodes, 8);
        run_case.sku = kSku;
        add_run(store_, run_of(run_case, step_ms + noise));
      }
    }
  }
  ScalingCurve curve(std::vector<AskedSize> predict_at = {}) const {
    CurveOptions options;
    options.predict_at = std::move(predict_at);
    return scaling_curve(store_, store_.runs(), options);
  }
  static CostOptions costs(double samples, double deadline_h) {
    CostOptions options;
    options.samples_total = samples;
    options.deadline_h = deadline_h;
    return options;
  }

  test::TemporaryDirectory folder_;
  store::RunStore store_ = store::RunStore::open(folder_.path() / "results.db", store::OpenMode::kReadWrite);
  SkuCatalogue catalogue_ = SkuCatalogue::builtin();
};

TEST_F(CurveCost, MeasuredAndPredictedSizesAreOffersWithIntervals) {
  const std::vector<Offer> offers = offers_of(curve({{8, 8}}));
  ASSERT_EQ(offers.size(), 4u);
  EXPECT_EQ(offers[1].label, "2 x Standard_ND96asr_v4, 16 GPUs");
  ASSERT_TRUE(offers[1].interval);
  EXPECT_TRUE(contains(offers[1].interval->method, "Student's t over 3 runs"));
  EXPECT_EQ(offers[3].label, "8 x Standard_ND96asr_v4, 64 GPUs, predicted");
  EXPECT_EQ(*offers[3].nodes, 8);
  EXPECT_TRUE(offers[3].provenance.has(Provenance::kPredicted));
  const CostOptions wanted = costs(1e9, 24);
  const CostTable table = cost_table(offers, catalogue_, wanted);
  for (const CostRow& row : table.rows) {
    ASSERT_TRUE(row.hours_interval && row.usd_interval) << row.offer.label;
    EXPECT_LT(row.hours_interval->low, *row.hours);
    EXPECT_GT(row.hours_interval->high, *row.hours);
    EXPECT_NEAR(row.usd_interval->high / *row.usd, row.hours_interval->high / *row.hours, 1e-9);
  }
}

TEST_F(CurveCost, TheFewestNodesForADeadline) {
  const double one_node_h = 1e9 / curve().rows[0].samples_per_s / kSecondsAnHour;
  const NodesInTime in_two = nodes_in_time(curve(), catalogue_, costs(1e9, one_node_h / 1.9));
  EXPECT_EQ(*in_two.expected->offer.nodes, 2);
  EXPECT_EQ(*in_two.assured->offer.nodes, 2);
  const NodesInTime predicted = nodes_in_time(curve(), catalogue_, costs(1e9, one_node_h / 6.5));
  EXPECT_EQ(*predicted.expected->offer.nodes, 7) << "between measured sizes and twice the largest";
  EXPECT_GE(*predicted.assured->offer.nodes, *predicted.expected->offer.nodes);
  EXPECT_LE(predicted.assured->hours_interval->high, one_node_h / 6.5);
  const NodesInTime never = nodes_in_time(curve(), catalogue_, costs(1e9, one_node_h / 1e4));
  EXPECT_TRUE(contains(never.expected.reason(), "not with up to 64 nodes"));
  EXPECT_FALSE(never.assured);
}

TEST_F(CurveCost, InterruptionsCountIntoTheDeadline) {
  CostOptions wanted = costs(1e9, 1e9 / curve().rows[0].samples_per_s / kSecondsAnHour * 1.001);
  EXPECT_EQ(*nodes_in_time(curve(), catalogue_, wanted).expected->offer.nodes, 1);
  wanted.node_mtbf_h = 10;
  const NodesInTime answer = nodes_in_time(curve(), catalogue_, wanted);
  EXPECT_EQ(*answer.expected->offer.nodes, 2);
  EXPECT_GT(answer.expected->checkpoints.interval_s, 0);
}

TEST_F(CurveCost, TheTimeOfACheckpointIsThatOfItsSlowestRank) {
  EXPECT_TRUE(contains(checkpoint_seconds(store_, store_.runs()).reason(), "--checkpoint-every"));
  RunCase run_case = sized(1, 2);
  run_case.checkpoint_every = 10;
  const store::RunId id = add_run(store_, run_of(run_case, 100));
  store_.append_step_values(id, 0, "checkpoint_seconds", std::vector<std::pair<std::uint32_t, double>>{{9, 1.0}, {19, 2.0}});
  store_.append_step_values(id, 1, "checkpoint_seconds", std::vector<std::pair<std::uint32_t, double>>{{9, 3.0}, {19, 1.0}});
  EXPECT_DOUBLE_EQ(*checkpoint_seconds(store_, store_.runs()), 2.5);
}

TEST_F(CurveCost, APlanOfCheckpointsReplacesThoseOfTheRuns) {
  // 100 ms of training and a checkpoint of 5 s every 50 steps: 200 ms a step.
  store::RunStore store = store::RunStore::open(folder_.path() / "checkpoints.db", store::OpenMode::kReadWrite);
  RunCase run_case = sized(1, 1);
  run_case.sku = kSku;
  run_case.checkpoint_every = 50;
  const store::RunId id = add_run(store, run_of(run_case, 200));
  std::set<std::uint32_t> measured;
  for (const store::StepRecord& step : store.steps(id)) measured.insert(step.step);
  std::vector<std::pair<std::uint32_t, double>> written;
  for (const std::uint32_t step : measured) written.emplace_back(step, 0.1);  // of each step, in the mean
  store.append_step_values(id, 0, "checkpoint_seconds", written);
  const std::vector<Offer> offers = offers_of(scaling_curve(store, store.runs(), {}));
  ASSERT_EQ(offers.size(), 1u);
  EXPECT_NEAR(offers[0].rate_without_checkpoints, 2, 1e-9);
  CostOptions options = costs(1e9, 1e9);
  const auto hours = [&] { return *cost_table(offers, catalogue_, options).rows.back().hours; };
  const double as_measured_h = 1e9 / offers[0].samples_per_s / kSecondsAnHour;
  EXPECT_NEAR(hours() / as_measured_h, 1, 1e-9) << "no plan: as the runs were";
  options.node_mtbf_h = 25;
  options.checkpoint_s = 5;
  const double factor = plan_checkpoints({25, 5, options.restart_s}).time_factor;
  EXPECT_NEAR(hours() / as_measured_h, factor / 2, 1e-9);
}

}  // namespace
}  // namespace ddbench::analyzer
