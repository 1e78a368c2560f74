#include "analyzer/comparison/compare_by.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "stored_runs.h"
#include "synthetic_run.h"
#include "text.h"

namespace ddbench::analyzer {
namespace {

using test::add_run;
using test::contains;
using test::run_of;
using test::sized;
using test::StoredRun;

/// Two links, three sizes, two repetitions each.
void add_network_sweep(store::RunStore& store) {
  for (const double noise : {0.998, 1.002}) {
    for (const int nodes : {1, 2, 4}) {
      for (const bool slow : {false, true}) {
        StoredRun run =
            run_of(sized(nodes, 1), (slow ? 100 + 50 * (nodes - 1) : 100 + 5 * (nodes - 1)) * noise);
        run.run_case.link = nodes == 1 ? "" : slow ? "100mbit" : "1gbit";
        run.network = nodes == 1 ? "loopback" : slow ? "veth@100mbit" : "veth@1gbit";
        if (nodes > 1) {
          run.collectives = {{"all_reduce", 0, 1 << 20, 10, (slow ? 80 : 8) * 1'000'000, 0, 0, true}};
        }
        add_run(store, run);
      }
    }
  }
}

TEST(CompareBy, NetworksAreOrderedWithTheirRatio) {
  ScratchStore scratch;
  add_network_sweep(scratch.get());
  const GroupComparison by = compare_by(scratch.get(), scratch.get().runs(), "network", "veth@1gbit");
  EXPECT_EQ(by.values, (std::vector<std::string>{"veth@1gbit", "loopback", "veth@100mbit"}));
  const auto row = std::find_if(by.rows.begin(), by.rows.end(), [](const GroupRow& r) {
    return r.world_size == 4 && r.value == "veth@100mbit";
  });
  ASSERT_NE(row, by.rows.end());
  EXPECT_NEAR(row->against_reference->value, 115.0 / 250, 1e-6);
  EXPECT_FALSE(row->against_reference->interval) << "two runs a side, and no others of these cases";
  ASSERT_EQ(by.collectives.size(), 4u);  // two numbers of ranks, two links
  EXPECT_EQ(by.collectives[1].value, "veth@100mbit");
  EXPECT_NEAR(by.collectives[1].against_reference->value, 10, 1e-6);
  EXPECT_NEAR(*by.collectives[0].busbw_gb_per_s, (1 << 20) / 8e6, 1e-6);
  EXPECT_EQ(throughput_figure(by).series.size(), 3u);
  const Figure bandwidth = bus_bandwidth_figure(by);
  EXPECT_EQ(bandwidth.series.size(), 4u);
  for (const Series& series : bandwidth.series) EXPECT_TRUE(series.provenance.has(Provenance::kMeasured));
}

TEST(CompareBy, BucketsOfOneRunAreOneObservation) {
  ScratchStore scratch;
  for (const bool slow : {false, true}) {
    StoredRun run = run_of(sized(2, 1), 100);
    run.run_case.link = slow ? "100mbit" : "1gbit";
    for (int bucket = 0; bucket < 12; ++bucket)
      run.collectives.push_back({"all_reduce", bucket, 25 << 20, 10, (slow ? 105 : 100) * (100'000 + 100 * bucket), 0, 0, true});
    add_run(scratch.get(), run);
  }
  const GroupComparison by = compare_by(scratch.get(), scratch.get().runs(), "link", "1gbit");
  ASSERT_EQ(by.collectives.size(), 2u);
  EXPECT_NEAR(by.collectives[1].against_reference->value, 1.05, 1e-9);
  EXPECT_TRUE(contains(by.collectives[1].against_reference->interval.reason(), "1 and 1 run(s)"));
}

TEST(CompareBy, EfficiencyByLinkIsAgainstOneNode) {
  ScratchStore scratch;
  add_network_sweep(scratch.get());
  const GroupComparison by = compare_by(scratch.get(), scratch.get().runs(), "link");
  for (const GroupRow& row : by.rows) {
    if (row.world_size != 4 || row.value != "1gbit") continue;
    EXPECT_NEAR(*row.efficiency, 100.0 / 115, 1e-6);  // one node uses no link
  }
}

TEST(CompareBy, NumbersAreOrderedAsNumbersAndTheOldestIsTheReference) {
  ScratchStore scratch;
  for (const int batch : {64, 8, 256}) {
    StoredRun run = run_of(sized(1, 2), 100);
    run.run_case.batch_per_gpu = batch;
    add_run(scratch.get(), run);
  }
  EXPECT_EQ(compare_by(scratch.get(), scratch.get().runs(), "batch_per_gpu").values,
            (std::vector<std::string>{"64", "8", "256"}));
}

TEST(CompareBy, SkusBecomeOffersWithCosts) {
  ScratchStore scratch;
  for (const char* sku : {"Standard_ND96asr_v4", "p4d.24xlarge"}) {
    StoredRun run = run_of(sized(2, 8), 100);
    run.run_case.sku = sku;
    add_run(scratch.get(), run);
  }
  const GroupComparison by = compare_by(scratch.get(), scratch.get().runs(), "sku");
  const CostTable costs = cost_table(offers_of(by), SkuCatalogue::builtin(), {});
  ASSERT_EQ(costs.rows.size(), 3u);  // one of them on spot nodes, too
  EXPECT_EQ(costs.rows[1].offer.sku, "p4d.24xlarge");
  const double samples_per_h = 16 * 64 / 0.1 * 3600;
  EXPECT_NEAR(costs.rows[1].usd_per_million_samples->value, 2 * 21.9576 / samples_per_h * 1e6, 1e-9);
  EXPECT_EQ(costs.rows[1].offer.label, "2 x p4d.24xlarge");
}

TEST(CompareBy, OffersOfThreeRunsHaveIntervals) {
  ScratchStore scratch;
  for (const double ms : {99.0, 100.0, 101.0}) {
    StoredRun run = run_of(sized(2, 8), ms);
    run.run_case.sku = "p4d.24xlarge";
    add_run(scratch.get(), run);
  }
  const std::vector<Offer> offers = offers_of(compare_by(scratch.get(), scratch.get().runs(), "sku"));
  ASSERT_TRUE(offers.front().interval);
  EXPECT_LT(offers.front().interval->low, offers.front().samples_per_s);
  EXPECT_GT(offers.front().interval->high, offers.front().samples_per_s);
}

TEST(CompareBy, OffersOfOneSkuAreToldApart) {
  ScratchStore scratch;
  for (const int batch : {64, 128}) {
    for (const int gpus : {1, 8}) {
      StoredRun run = run_of(sized(1, gpus), 100);
      run.run_case.sku = "p4d.24xlarge";
      run.run_case.batch_per_gpu = batch;
      add_run(scratch.get(), run);
    }
  }
  std::set<std::string> labels;
  for (const Offer& offer : offers_of(compare_by(scratch.get(), scratch.get().runs(), "sku"))) labels.insert(offer.label + " " + offer.settings);
  EXPECT_EQ(labels.size(), 4u);
  EXPECT_TRUE(labels.contains("1 x p4d.24xlarge, 1 GPU batch_per_gpu=64")) << *labels.begin();
}

TEST(CompareBy, WhatIsNotProvedIsNotLabelled) {
  ScratchStore scratch;
  add_run(scratch.get(), run_of(sized(1, 2), 100));
  const GroupComparison by = compare_by(scratch.get(), scratch.get().runs(), "network");
  EXPECT_EQ(by.values, std::vector<std::string>{"not proved"});
  EXPECT_TRUE(contains(by.notes.front(), "nothing to compare"));
}

TEST(CompareBy, ImpossibleQuestions) {
  ScratchStore scratch;
  add_run(scratch.get(), run_of(sized(1, 2), 100));
  EXPECT_THROW(compare_by(scratch.get(), scratch.get().runs(), "colour"), Error);
  try {
    compare_by(scratch.get(), scratch.get().runs(), "gpus");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "runs cannot be compared by \"gpus\"; did you mean gpus_per_node or world_size?");
  }
  EXPECT_THROW(compare_by(scratch.get(), scratch.get().runs(), "link", "1gbit"), Error);
  EXPECT_THROW(compare_by(scratch.get(), {}, "link"), Error);
}

}  // namespace
}  // namespace ddbench::analyzer
