#include "analyzer/cost/cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/error.h"

namespace ddbench::analyzer {
namespace {

/// Mean time of many simulated jobs over their undisturbed time.
double simulated_factor(const Interruptions& interruptions, double interval_s, double work_s,
                        std::mt19937_64& random) {
  std::exponential_distribution<double> until_interruption(1 / (interruptions.mean_hours_between * 3600));
  constexpr int kJobs = 300;
  double total_s = 0;
  for (int job = 0; job < kJobs; ++job) {
    double left_s = until_interruption(random);
    for (double done_s = 0; done_s < work_s;) {
      double segment_s = interval_s + interruptions.checkpoint_s;
      while (left_s < segment_s) {  // lost: restart (which may be interrupted too), then the segment again
        total_s += left_s;
        left_s = until_interruption(random);
        segment_s = interruptions.restart_s + interval_s + interruptions.checkpoint_s;
      }
      total_s += segment_s;
      left_s -= segment_s;
      done_s += interval_s;
    }
  }
  return total_s / kJobs / work_s;
}

TEST(CheckpointPlan, IsNearYoungsWhereInterruptionsAreRare) {
  const CheckpointPlan plan = plan_checkpoints({1000, 10, 60});
  const double young_s = std::sqrt(2 * 10 * 1000 * 3600.0);
  EXPECT_NEAR(plan.interval_s, young_s, 0.01 * young_s);
  EXPECT_NEAR(plan.time_factor, 1, 0.01);
}

TEST(CheckpointPlan, NoOtherIntervalIsMuchBetter) {
  for (const Interruptions& interruptions :
       {Interruptions{1, 60, 300}, Interruptions{24, 30, 120}, Interruptions{0.2, 60, 60}}) {
    const double mean_s = interruptions.mean_hours_between * 3600;
    const CheckpointPlan plan = plan_checkpoints(interruptions);
    double best = std::numeric_limits<double>::infinity();
    for (double interval_s = 1; interval_s < 4 * mean_s; interval_s *= 1.01) {
      best = std::min(best, mean_s / interval_s * std::exp(interruptions.restart_s / mean_s) *
                                std::expm1((interval_s + interruptions.checkpoint_s) / mean_s));
    }
    EXPECT_LE(plan.time_factor, 1.001 * best);
  }
}

TEST(CheckpointPlan, ExpectedTimeAgreesWithSimulatedJobs) {
  std::mt19937_64 random(1);
  for (const Interruptions& interruptions : {Interruptions{2, 60, 300}, Interruptions{12, 120, 600}}) {
    const CheckpointPlan plan = plan_checkpoints(interruptions);
    const double simulated = simulated_factor(interruptions, plan.interval_s, 200 * plan.interval_s, random);
    EXPECT_NEAR(plan.time_factor, simulated, 0.02 * simulated);
  }
}

TEST(CheckpointPlan, NeverInterruptedAndNonsense) {
  EXPECT_EQ(plan_checkpoints({0, 60, 300}).time_factor, 1);
  EXPECT_THROW(plan_checkpoints({-1, 60, 300}), Error);
  EXPECT_THROW(plan_checkpoints({1, 0, 300}), Error);
  EXPECT_THROW(plan_checkpoints({1, 60, std::nan("")}), Error);
}

Offer offer(const std::string& sku, int nodes, double samples_per_s) {
  Offer result;
  result.label = std::to_string(nodes) + " x " + sku;
  result.sku = sku;
  result.nodes = nodes;
  result.gpus = 8 * nodes;
  result.samples_per_s = samples_per_s;
  result.provenance = {Provenance::kMeasured};
  return result;
}

/// Prices on demand alone: those of spot nodes are tested by themselves.
SkuCatalogue on_demand() {
  SkuCatalogue catalogue;
  catalogue.apply(R"(
[[sku]]
name = "Standard_ND96asr_v4"
price_usd_per_h = 27.197
price_source = "list"
price_date = "2022"
[[sku]]
name = "p4d.24xlarge"
price_usd_per_h = 21.9576
[[sku]]
name = "Standard_ND40rs_v2"
price_usd_per_h = 22.032
)",
                  "test.toml");
  return catalogue;
}

TEST(Cost, SpotPricesOfTheCatalogueAreAssumptions) {
  const std::vector<Offer> offers = {offer("Standard_ND96asr_v4", 2, 2600)};
  const CostTable table = cost_table(offers, SkuCatalogue::builtin(), {});
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_TRUE(table.rows[0].spot && table.rows[0].is_assumed);
  EXPECT_NEAR(*table.rows[0].usd_per_h, 2 * 2.99167, 1e-9);
  EXPECT_NE(table.rows[0].price_note.find("2025"), std::string::npos);
  EXPECT_NE(table.rows[0].price_note.find("0.05 preemptions a node and hour"), std::string::npos);
  EXPECT_NE(table.notes.back().find("assumptions"), std::string::npos);
  SkuCatalogue changed = SkuCatalogue::builtin();
  changed.set_price("Standard_ND96asr_v4=27,spot=20,preemptions=0.5");
  const CostTable dearer = cost_table(offers, changed, {});
  const CostRow& spot = dearer.rows[dearer.rows[0].spot ? 0 : 1];
  EXPECT_NEAR(*spot.usd_per_h, 40, 1e-9);
  EXPECT_FALSE(spot.is_assumed);
  EXPECT_NE(spot.price_note.find("--price; 0.5"), std::string::npos);
}

TEST(Cost, OfGpusWhoseNodesAreNotStatedIsNotKnown) {
  CostOptions options;
  options.samples_total = 1e9;
  RunCase run_case;
  set_unplaced(run_case, 16);
  std::vector<Offer> offers = {offer("p4d.24xlarge", 2, 2600)};
  offers[0].nodes = nodes_to_rent(run_case);
  for (const double mtbf_h : {0.0, 1000.0}) {
    options.node_mtbf_h = mtbf_h;
    for (const CostRow& row : cost_table(offers, SkuCatalogue::builtin(), options).rows) {
      EXPECT_NE(row.usd_per_h.reason().find("does not state"), std::string::npos);
      EXPECT_FALSE(row.usd_per_million_samples);
      EXPECT_FALSE(row.usd);
      EXPECT_EQ(bool(row.hours), !row.spot && mtbf_h == 0) << "interruptions are those of nodes";
    }
  }
}

TEST(Cost, WhatIsInterruptedTooOftenIsNeverDone) {
  CostOptions options;
  options.samples_total = 1e9;
  options.deadline_h = 1e6;
  options.node_mtbf_h = 1e-6;
  const std::vector<Offer> offers = {offer("p4d.24xlarge", 2, 2600)};
  const CostTable table = cost_table(offers, on_demand(), options);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_NE(table.rows[0].hours.reason().find("interrupted so often"), std::string::npos);
  EXPECT_FALSE(table.rows[0].usd_per_million_samples);
  EXPECT_FALSE(table.rows[0].meets_deadline);
  EXPECT_EQ(table.cheapest_in_time, -1);
}

TEST(Cost, OfAMillionSamplesAndAnEpoch) {
  // One ND96asr_v4 at 27.197 USD/h, 2600 samples/s: 9.36 M samples/h.
  CostOptions options;
  options.samples_per_epoch = 1281167;  // ImageNet
  const std::vector<Offer> offers = {offer("Standard_ND96asr_v4", 1, 2600)};
  const CostTable table = cost_table(offers, on_demand(), options);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_NEAR(table.rows[0].usd_per_million_samples->value, 27.197 / 9.36, 1e-9);
  EXPECT_NEAR(*table.rows[0].usd_per_epoch, 27.197 / 9.36 * 1.281167, 1e-9);
  EXPECT_FALSE(table.rows[0].hours);
  EXPECT_NE(table.rows[0].price_note.find("2022"), std::string::npos);
}

TEST(Cost, IntervalOfTheThroughputBecomesThatOfTheCost) {
  std::vector<Offer> offers = {offer("p4d.24xlarge", 2, 1000)};
  offers[0].interval = ConfidenceInterval{900, 1100, 0.95, "Student's t"};
  const CostTable table = cost_table(offers, SkuCatalogue::builtin(), {});
  const Quantity& cost = *table.rows[0].usd_per_million_samples;
  EXPECT_NEAR(cost.interval->low, cost.value * 1000 / 1100, 1e-9);
  EXPECT_NEAR(cost.interval->high, cost.value * 1000 / 900, 1e-9);
}

TEST(Cost, OneRunHasACostAndNoInterval) {
  const CostTable table = cost_table(std::vector<Offer>{offer("p4d.24xlarge", 2, 1000)}, on_demand(), {});
  ASSERT_TRUE(table.rows[0].usd_per_million_samples);
  EXPECT_EQ(table.rows[0].usd_per_million_samples->interval.reason(),
            "the throughput has no interval: it needs 3 runs (--repeat 3)");
  EXPECT_FALSE(cost_figure(table).series[0].points[0].interval);
}

TEST(Cost, TheCheapestWayToADeadline) {
  CostOptions options;
  options.samples_total = 3600e6;
  options.deadline_h = 300;
  // 1 node: 1000 h, 27197 USD. 4 nodes: 263 h (efficiency 0.95). 8 nodes: 147 h, but dearer.
  const std::vector<Offer> offers = {offer("Standard_ND96asr_v4", 1, 1000),
                                     offer("Standard_ND96asr_v4", 4, 3800),
                                     offer("Standard_ND96asr_v4", 8, 6800)};
  const CostTable table = cost_table(offers, on_demand(), options);
  ASSERT_GE(table.cheapest_in_time, 0);
  const CostRow& best = table.rows[static_cast<std::size_t>(table.cheapest_in_time)];
  EXPECT_EQ(*best.offer.nodes, 4);
  EXPECT_NEAR(*best.hours, 1000 / 3.8, 1e-6);
  EXPECT_NEAR(*best.usd, 1000 / 3.8 * 4 * 27.197, 1e-6);
  EXPECT_EQ(*table.rows[0].offer.nodes, 1);  // cheapest a sample
  EXPECT_FALSE(table.rows[0].meets_deadline);

  options.deadline_h = 10;
  const CostTable hopeless = cost_table(offers, on_demand(), options);
  EXPECT_EQ(hopeless.cheapest_in_time, -1);
  EXPECT_NE(hopeless.notes.back().find("deadline"), std::string::npos);
}

TEST(Cost, SpotNodesPayForTheirInterruptions) {
  SkuCatalogue catalogue = SkuCatalogue::builtin();
  catalogue.set_price("p5.48xlarge=55,spot=20,preemptions=0.1");
  CostOptions options;
  options.samples_total = 1e9;
  const CostTable table = cost_table(std::vector<Offer>{offer("p5.48xlarge", 4, 9000)}, catalogue, options);
  ASSERT_EQ(table.rows.size(), 2u);
  const CostRow& spot = table.rows[0];
  EXPECT_TRUE(spot.spot);
  EXPECT_GT(spot.checkpoints.time_factor, 1.05);  // an interruption every 2.5 h
  EXPECT_NEAR(*spot.hours, *table.rows[1].hours * spot.checkpoints.time_factor, 1e-9);
  EXPECT_LT(*spot.usd, *table.rows[1].usd);
  EXPECT_TRUE(spot.on_front && table.rows[1].on_front);  // cheaper, and faster

  EXPECT_FALSE(spot.is_assumed);
  SkuCatalogue half_assumed = SkuCatalogue::builtin();
  half_assumed.set_price("Standard_ND40rs_v2=20,spot=2");
  const CostTable assumed = cost_table(std::vector<Offer>{offer("Standard_ND40rs_v2", 4, 9000)}, half_assumed, options);
  EXPECT_TRUE(assumed.rows[0].spot && assumed.rows[0].is_assumed) << "its preemption rate is the catalogue's";
  EXPECT_NE(assumed.rows[0].price_note.find("(assumed)"), std::string::npos);
  half_assumed.set_price("Standard_ND40rs_v2=20,preemptions=0.2");
  EXPECT_FALSE(cost_table(std::vector<Offer>{offer("Standard_ND40rs_v2", 4, 9000)}, half_assumed, options).rows[0].is_assumed);

  SkuCatalogue without_rate = SkuCatalogue::builtin();
  without_rate.set_price("p5.48xlarge=55,spot=20");
  const CostTable unknown =
      cost_table(std::vector<Offer>{offer("p5.48xlarge", 4, 9000)}, without_rate, options);
  EXPECT_NE(unknown.rows[1].usd.reason().find("preemptions"), std::string::npos);
  EXPECT_FALSE(unknown.rows[1].is_assumed) << "nothing of it is the catalogue's";
  EXPECT_EQ(unknown.rows[1].hours.reason(), unknown.rows[1].usd.reason());  // not those of nodes that never fail
  EXPECT_EQ(unknown.rows[1].hours_interval.reason(), unknown.rows[1].usd.reason());
}

TEST(Cost, WithoutPriceTheReasonIsSaid) {
  const std::vector<Offer> offers = {offer("moon", 1, 100), offer("", 1, 100), offer("p3.16xlarge", 1, 100)};
  const CostTable table = cost_table(offers, SkuCatalogue::builtin(), {});
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_NE(table.rows[0].usd_per_million_samples.reason().find("--price moon="), std::string::npos);
  EXPECT_NE(table.rows[1].usd_per_million_samples.reason().find("--sku"), std::string::npos);
  EXPECT_NE(table.rows[2].usd_per_million_samples.reason().find("no price"), std::string::npos);
  EXPECT_TRUE(cost_figure(table).series[0].points.empty());
}

TEST(Cost, TheFigureShowsTheParetoFront) {
  CostOptions options;
  options.samples_total = 1e9;
  const std::vector<Offer> offers = {offer("Standard_ND96asr_v4", 1, 1000),
                                     offer("Standard_ND96asr_v4", 8, 7000), offer("p4d.24xlarge", 4, 3900),
                                     offer("Standard_ND40rs_v2", 8, 2000)};
  const Figure figure = cost_figure(cost_table(offers, on_demand(), options));
  EXPECT_EQ(figure.series[0].points.size(), 4u);
  ASSERT_EQ(figure.series[1].points.size(), 2u);  // the fastest, and the cheapest
  EXPECT_LT(figure.series[1].points[0].x, figure.series[1].points[1].x);
  EXPECT_GT(figure.series[1].points[0].y, figure.series[1].points[1].y);
}

TEST(Cost, NonsenseIsRefused) {
  EXPECT_THROW(cost_table(std::vector<Offer>{offer("p4d.24xlarge", 1, 0)}, SkuCatalogue::builtin(), {}),
               Error);
  EXPECT_THROW(
      cost_table(std::vector<Offer>{offer("p4d.24xlarge", 1, std::nan(""))}, SkuCatalogue::builtin(), {}),
      Error);
  CostOptions options;
  options.deadline_h = -1.0;
  EXPECT_THROW(cost_table({}, SkuCatalogue::builtin(), options), Error);
  EXPECT_TRUE(cost_table({}, SkuCatalogue::builtin(), {}).rows.empty());
}

}  // namespace
}  // namespace ddbench::analyzer
