#include "analyzer/collectives/micro_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "analyzer/comparison/compare_by.h"
#include "analyzer/finalize/finalize.h"
#include "core/error.h"
#include "synthetic_run.h"

namespace ddbench::analyzer {
namespace {

struct Stored {
  MicroOperation operation = MicroOperation::kAllReduce;
  double bytes = 0;
  bool in_place = false;
  std::vector<std::vector<double>> times_ns;  ///< by rank, batch
  std::vector<double> wrong = {0, 0};
  double work = 0;
};

class MicroTableTest : public testing::Test {
 protected:
  store::RunRecord add(const std::vector<Stored>& measurements, const std::string& link = "", int ranks = 2) {
    store::RunRecord run;
    run.id = "20261121T0000" + std::to_string(10 + count_++) + "-00000000";
    run.run_case.work = Microbenchmark{};
    run.run_case.nodes = ranks;
    run.run_case.link = link;
    run.state = store::RunState::kDone;
    run.provenance = {Provenance::kMeasured};
    run.started_wall_ns = count_ * 1'000'000'000LL;
    store_.create_run(run);
    for (int rank = 0; rank < ranks; ++rank) {
      std::uint32_t step = 0;
      for (const Stored& stored : measurements) add_values(run.id, rank, stored, step);
    }
    finalize_run(store_, run.id);
    return *store_.run(run.id);
  }

  /// An all-reduce in place on two ranks in two batches 1% apart.
  static Stored timed(double bytes, double time_ns) {
    return {MicroOperation::kAllReduce, bytes, true, {{time_ns, time_ns * 1.01}, {time_ns, time_ns * 1.01}}};
  }

  ScratchStore scratch_;
  store::RunStore& store_ = scratch_.get();

 private:
  void add_values(const store::RunId& id, int rank, const Stored& stored, std::uint32_t& step) {
    const auto put = [&](const char* name, double value) {
      const std::pair<std::uint32_t, double> one[] = {{step, value}};
      store_.append_step_values(id, rank, name, one);
    };
    put(kMicroOperationValue, static_cast<double>(stored.operation));
    put(kMicroBytesValue, stored.bytes);
    put(kMicroInPlaceValue, stored.in_place);
    put(kMicroIterationsValue, 10);
    put(kMicroWorkValue, stored.work);
    put(kMicroWrongValue, stored.wrong[static_cast<std::size_t>(rank)]);
    for (const double time_ns : stored.times_ns[static_cast<std::size_t>(rank)]) {
      put(kMicroTimeValue, time_ns);
      ++step;
    }
  }

  int count_ = 0;
};

TEST_F(MicroTableTest, ATimeIsTheMedianOverBatchesOfTheMeanOverRanks) {
  const auto run = add({{MicroOperation::kAllReduce, 4e6, false, {{1000, 2000, 9000}, {3000, 4000, 9000}}}});
  const MicroTable table = micro_table(store_, run);
  ASSERT_EQ(table.rows.size(), 1U);
  ASSERT_TRUE(table.rows[0].out_of_place);
  EXPECT_FALSE(table.rows[0].in_place);
  const MicroTiming& timing = *table.rows[0].out_of_place;
  EXPECT_EQ(timing.batches_ns, (std::vector<double>{2000, 3000, 9000}));
  EXPECT_DOUBLE_EQ(timing.time_ns, 3000);
  EXPECT_EQ(timing.iterations, 30);
  EXPECT_DOUBLE_EQ(timing.algbw_gb_per_s, 4e6 / 3000);
  EXPECT_DOUBLE_EQ(timing.busbw_gb_per_s, 4e6 / 3000);  // 2 (n-1)/n is 1 on two ranks
  EXPECT_EQ(table.rows[0].count, 1'000'000);
}

TEST_F(MicroTableTest, CountsAreThoseThatNcclTestsPrint) {
  const std::vector<std::vector<double>> times = {{10, 10}, {10, 10}};
  const auto run = add({{MicroOperation::kAllGather, 1024, true, times},
                        {MicroOperation::kBroadcast, 1024, true, times},
                        {MicroOperation::kReduceScatter, 1024, true, times}});
  const MicroTable table = micro_table(store_, run);
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0].count, 128);
  EXPECT_EQ(table.rows[0].redop, "none");
  EXPECT_DOUBLE_EQ(table.rows[0].in_place->busbw_gb_per_s, 102.4 / 2);
  EXPECT_EQ(table.rows[1].redop, "sum");
  EXPECT_EQ(table.rows[1].count, 128);
  EXPECT_EQ(table.rows[2].root, 0);
  EXPECT_EQ(table.rows[2].count, 256);
}

TEST_F(MicroTableTest, LatencyAndBandwidthAreFound) {
  std::vector<Stored> measurements;
  for (double bytes = 1024; bytes < 1e8; bytes *= 4)
    measurements.push_back(timed(bytes, 20'000 + bytes * 0.5));
  const MicroTable table = micro_table(store_, add(measurements));
  ASSERT_EQ(table.fits.size(), 1U);
  EXPECT_EQ(table.fits[0].algorithm, "all_reduce");
  ASSERT_EQ(table.fits[0].regimes.size(), 1U);
  EXPECT_NEAR(table.fits[0].regimes[0].latency_ns, 20'000, 400);
  EXPECT_NEAR(table.fits[0].regimes[0].ns_per_byte, 0.5, 0.01);
}

TEST_F(MicroTableTest, TheBestSizeIsTheCeiling) {
  const auto run = add({{MicroOperation::kGemm, 0, false, {{100, 100}, {100, 100}}, {0, 0}, 5000},
                        {MicroOperation::kGemm, 0, false, {{100, 100}, {200, 200}}, {0, 0}, 20000},
                        {MicroOperation::kCopy, 0, false, {{10, 10}, {10, 10}}, {0, 0}, 80}});
  const MicroTable table = micro_table(store_, run);
  ASSERT_EQ(table.ceilings.size(), 2U);
  EXPECT_DOUBLE_EQ(table.ceilings[0].per_second, (200e9 + 100e9) / 2);
  EXPECT_DOUBLE_EQ(table.ceilings[0].slowest_per_second, 100e9);
  EXPECT_DOUBLE_EQ(table.ceilings[1].per_second, 8e9);
  EXPECT_TRUE(table.rows.empty());
}

TEST_F(MicroTableTest, WrongResultsMakeTheRunInvalid) {
  Stored damaged = timed(4096, 1000);
  damaged.wrong = {0, 3};
  const auto run = add({timed(1024, 1000), damaged});
  EXPECT_FALSE(run.valid);
  EXPECT_NE(run.invalid_reason.find("all_reduce of 4096 bytes gave 3 wrong"), std::string::npos)
      << run.invalid_reason;
  EXPECT_EQ(micro_table(store_, run).wrong, 3);
}

TEST_F(MicroTableTest, WhatNotAllRanksMeasuredIsLeftOut) {
  Stored broken = timed(4096, 1000);
  broken.times_ns[1].clear();
  EXPECT_EQ(micro_table(store_, add({timed(1024, 1000), broken})).rows.size(), 1U);
  const auto nothing = add({broken});
  EXPECT_FALSE(nothing.valid);
  EXPECT_THROW(micro_table(store_, nothing), Error);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(add({timed(1024, nan)}).valid);
}

TEST_F(MicroTableTest, OtherRunsAreRefused) {
  store::RunRecord run;
  run.id = "20261121T000100-00000000";
  store_.create_run(run);
  EXPECT_THROW(micro_table(store_, run), Error);
}

TEST_F(MicroTableTest, LinksAreComparedBySize) {
  std::vector<store::RunRecord> runs;
  for (int repetition = 0; repetition < 3; ++repetition) {
    for (const auto& [link, ns_per_byte] : {std::pair{"1gbit", 8.0}, {"100mbit", 80.0}}) {
      std::vector<Stored> measurements;
      for (const double bytes : {1e6, 1e7})
        measurements.push_back(timed(bytes, bytes * ns_per_byte * (1 + 0.01 * repetition)));
      runs.push_back(add(measurements, link));
    }
  }
  const GroupComparison groups = compare_by(store_, runs, "link", "1gbit");
  ASSERT_EQ(groups.collectives.size(), 4U);
  for (const GroupCollective& row : groups.collectives) {
    if (row.value == "1gbit") continue;
    ASSERT_TRUE(row.against_reference);
    EXPECT_NEAR(row.against_reference->value, 10, 1e-6);
    ASSERT_TRUE(row.against_reference->interval);
    EXPECT_LT(row.against_reference->interval->low, 10);
    EXPECT_GT(row.against_reference->interval->high, 10);
  }
}

}  // namespace
}  // namespace ddbench::analyzer
