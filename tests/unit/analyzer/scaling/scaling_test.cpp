#include "analyzer/scaling/scaling.h"
#include "analyzer/statistics/karp_flatt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analyzer/finalize/finalize.h"
#include "core/error.h"
#include "core/run_case/program_case.h"
#include "core/run_case/program_files.h"
#include "synthetic_run.h"

namespace ddbench::analyzer {
namespace {

class Sweep : public testing::Test {
 protected:
  /// A run of the sweep whose step takes `step_us`; returns its id.
  store::RunId add(int nodes, int gpus, std::int64_t step_us, ScalingMode mode = ScalingMode::kWeak,
                   const std::string& sweep_id = "s1", const store::RunId& baseline_id = {}) {
    SyntheticRun run;
    run.id = fmt::format("20261121T000000-{:08x}", ++runs_);
    run.set_world(nodes, gpus);
    run.step_us = step_us;
    run.run_case.scaling = mode;
    if (mode == ScalingMode::kStrong) run.run_case.batch_per_gpu = 960 / (nodes * gpus);
    store::RunRecord record = run.record();
    record.sweep_id = sweep_id;
    record.baseline_id = baseline_id;
    run.store_into(scratch_.get(), record);
    finalize_run(scratch_.get(), run.id);
    return run.id;
  }

  /// A run on two GPUs.
  void add_setting(std::int64_t bucket_bytes, const std::string& optimizer, double step_ms) {
    SyntheticRun run;
    run.id = fmt::format("20261121T000000-{:08x}", ++runs_);
    run.set_world(1, 2);
    run.step_us = std::llround(1000 * step_ms);
    run.run_case.bucket_bytes = bucket_bytes;
    run.run_case.optimizer = optimizer;
    store::RunRecord record = run.record();
    record.sweep_id = "s1";
    run.store_into(scratch_.get(), record);
    finalize_run(scratch_.get(), run.id);
  }

  ScalingTable table() { return scaling_table(scratch_.get(), "s1"); }

  ScratchStore scratch_;
  unsigned runs_ = 0;
};

TEST(KarpFlatt, OfThreeDaysOnOneAndFiveHoursOnSixteen) {
  const double speedup = 72.0 / 5.0;
  EXPECT_DOUBLE_EQ(speedup, 14.4);
  EXPECT_NEAR(speedup / 16, 0.90, 1e-12);
  EXPECT_NEAR(karp_flatt(speedup, 16), 0.0074, 5e-5);
  EXPECT_EQ(karp_flatt(16, 16), 0);
  for (const double n : {3.0, 7.0, 49.0, 1e6})
    EXPECT_EQ(karp_flatt(std::exp(std::log(n)), n), 0) << "rounding of " << n;
  EXPECT_LT(karp_flatt(16.01, 16), 0) << "superlinear";
  EXPECT_NEAR(karp_flatt(1, 16), 1, 1e-15);
  EXPECT_THROW(karp_flatt(1, 1), Error);
  EXPECT_THROW(karp_flatt(0, 16), Error);
}

TEST_F(Sweep, ComparesTheRunsOfAStrongSweepWithTheSmallest) {
  add(1, 1, 7200, ScalingMode::kStrong);
  add(4, 4, 500, ScalingMode::kStrong);
  const ScalingTable got = table();
  ASSERT_EQ(got.rows.size(), 2u);
  EXPECT_EQ(got.baseline, "1 GPU (run 20261121T000000-00000001)");
  EXPECT_EQ(got.rows[1].world_size, 16);
  EXPECT_NEAR(got.rows[1].speedup.value(), 14.4, 1e-9);
  EXPECT_NEAR(got.rows[1].efficiency.value(), 0.9, 1e-9);
  EXPECT_NEAR(got.rows[1].serial_fraction.value(), 0.0074, 5e-5);
  EXPECT_DOUBLE_EQ(got.rows[0].efficiency.value(), 1);
  EXPECT_EQ(got.rows[0].serial_fraction.reason(), "the baseline itself");
}

TEST_F(Sweep, OrdersByWorldSizeAndComparesWeakRunsByThroughput) {
  add(2, 2, 80);
  add(1, 2, 60);
  add(1, 1, 40);
  const ScalingTable got = table();
  ASSERT_EQ(got.rows.size(), 3u);
  EXPECT_EQ(got.rows[2].world_size, 4);
  EXPECT_NEAR(got.rows[1].efficiency.value(), 40.0 / 60, 1e-12);
  EXPECT_NEAR(got.rows[2].efficiency.value(), 0.5, 1e-12);
  EXPECT_NEAR(got.rows[2].speedup.value(), 2, 1e-12);
  EXPECT_NEAR(got.rows[2].exposed_communication_share.value(), 10.0 / 80, 1e-12);
  EXPECT_EQ(got.rows[2].serial_fraction.reason(), "weak scaling");
}

TEST_F(Sweep, TakesRunsAsTheUnitsWhereACaseWasRepeated) {
  add(1, 1, 40);
  add(1, 2, 58);
  add(1, 2, 60);
  add(1, 2, 62);
  const ScalingTable got = table();
  ASSERT_EQ(got.rows.size(), 2u);
  EXPECT_EQ(got.rows[1].repetitions, 3);
  const double geometric_mean_ns = 1000 * std::cbrt(58.0 * 60 * 62);
  EXPECT_NEAR(got.rows[1].step_time_ns->value, geometric_mean_ns, 1e-6);
  EXPECT_EQ(got.rows[1].step_time_ns->interval->method, "Student's t over 3 runs");
  // The logarithms of 58, 60 and 62 have a standard deviation of 0.0333471.
  EXPECT_NEAR(got.rows[1].step_time_ns->interval->high,
              geometric_mean_ns * std::exp(4.302653 * 0.0333471 / std::sqrt(3)), 1);
  EXPECT_EQ(got.rows[1].efficiency_interval.reason(),
            "3 and 1 run(s): an interval over runs needs 3 or more each (--repeat 3)");
}

TEST_F(Sweep, EfficiencyHasAnIntervalWhereBothSidesWereRepeated) {
  for (const int step_us : {39, 40, 41}) add(1, 1, step_us);
  for (const int step_us : {58, 60, 62}) add(1, 2, step_us);
  const ScalingTable got = table();
  EXPECT_NEAR(*got.rows[1].efficiency, std::cbrt(39.0 * 40 * 41 / (58.0 * 60 * 62)), 1e-12);
  EXPECT_LT(got.rows[1].efficiency_interval->low, *got.rows[1].efficiency);
  EXPECT_GT(got.rows[1].efficiency_interval->high, *got.rows[1].efficiency);
  EXPECT_NEAR(got.rows[1].speedup_interval->high, 2 * got.rows[1].efficiency_interval->high, 1e-12);
  EXPECT_EQ(got.rows[0].efficiency_interval.reason(), "the baseline itself");
}

TEST_F(Sweep, NamesTheFastestOfTheSettingsThatTrainTheSame) {
  for (const double noise : {0.999, 1.0, 1.001}) {
    add_setting(1 << 20, "sgd", 100 * noise);
    add_setting(5 << 20, "sgd", 80 * noise);
    add_setting(25 << 20, "sgd", 80.02 * noise);
    add_setting(1 << 20, "adamw", 30 * noise);  // trains something else
  }
  const std::vector<BestSetting> best = table().best;
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best[0].setting, "bucket_bytes=5242880");
  EXPECT_EQ(best[0].settings, 3);
  EXPECT_EQ(best[0].next, "bucket_bytes=26214400");
  EXPECT_NEAR(best[0].over_next.value, 80.02 / 80, 1e-4);
  EXPECT_DOUBLE_EQ(best[0].over_next.interval->level, 0.975) << "the best of three";
  EXPECT_EQ(best[0].as_good, std::vector<std::string>{"bucket_bytes=26214400"});
  EXPECT_LT(best[0].samples_per_s.interval->low, best[0].samples_per_s.value);
  EXPECT_GT(best[0].samples_per_s.interval->high, best[0].samples_per_s.value);
}

TEST_F(Sweep, SettingsWithOneRunEachCannotBeDistinguished) {
  add_setting(1 << 20, "sgd", 100);
  add_setting(5 << 20, "sgd", 80);
  add_setting(25 << 20, "sgd", 90);
  const std::vector<BestSetting> best = table().best;
  ASSERT_EQ(best.size(), 1u);
  EXPECT_FALSE(best[0].over_next.interval);
  EXPECT_EQ(best[0].as_good, (std::vector<std::string>{"bucket_bytes=26214400", "bucket_bytes=1048576"}));
}

TEST_F(Sweep, BringsInABaselineFromOutside) {
  const store::RunId baseline = add(1, 1, 40, ScalingMode::kWeak, "");
  add(1, 2, 80, ScalingMode::kWeak, "s1", baseline);
  add(1, 2, 80, ScalingMode::kWeak, "s1", baseline);
  const ScalingTable got = table();
  ASSERT_EQ(got.rows.size(), 2u);
  EXPECT_EQ(got.baseline, fmt::format("1 GPU (run {})", baseline));
  EXPECT_NEAR(got.rows[1].efficiency.value(), 0.5, 1e-12);
}

TEST_F(Sweep, LeavesOutFailedRunsAndSaysSo) {
  add(1, 1, 40);
  store::RunRecord failed = *scratch_.get().run(add(1, 2, 60));
  failed.state = store::RunState::kFailed;
  failed.reason = "rank 1 was killed by signal 9";
  scratch_.get().update_run(failed);
  const ScalingTable got = table();
  EXPECT_EQ(got.rows[1].state, "failed: rank 1 was killed by signal 9");
  EXPECT_EQ(got.rows[1].efficiency.reason(), got.rows[1].state);
  ASSERT_FALSE(got.notes.empty());
  EXPECT_EQ(got.notes[0], fmt::format("run {} (2 GPUs) is left out: {}", failed.id, got.rows[1].state));
}

TEST_F(Sweep, HasNoEfficiencyWithoutAUsableSmallestRun) {
  store::RunRecord failed = *scratch_.get().run(add(1, 1, 40));
  failed.state = store::RunState::kFailed;
  scratch_.get().update_run(failed);
  add(1, 2, 60);
  const ScalingTable got = table();
  EXPECT_EQ(got.rows[1].efficiency.reason(), "no baseline");
  EXPECT_EQ(got.baseline, "none: the smallest runs of the sweep gave no figures");
}

TEST_F(Sweep, ComparesWithASmallestRunThatDidTheSameWork) {
  const auto with_batch = [&](const store::RunId& id, std::int64_t global_batch) {
    store::RunRecord run = *scratch_.get().run(id);
    run.run_case.batch_per_gpu = global_batch / run.run_case.world_size();
    scratch_.get().update_run(run);
  };
  with_batch(add(1, 1, 100, ScalingMode::kStrong), 256);  // 1024 did not fit on one GPU
  with_batch(add(1, 2, 60, ScalingMode::kStrong), 256);
  with_batch(add(1, 2, 200, ScalingMode::kStrong), 1024);
  const ScalingTable got = table();
  ASSERT_EQ(got.rows.size(), 3u);
  EXPECT_NEAR(*got.rows[1].speedup, 100.0 / 60, 1e-9);
  EXPECT_EQ(got.rows[2].efficiency.reason(), "no baseline");
  EXPECT_FALSE(got.rows[2].waterfall);
}

TEST_F(Sweep, WithoutOneGpuEachCaseIsComparedWithItsOwnSmallest) {
  for (const auto& [gpus, batch, step_us] : {std::tuple{2, 16, 100}, {2, 32, 150}, {4, 16, 110}, {4, 32, 160}}) {
    store::RunRecord run = *scratch_.get().run(add(1, gpus, step_us));
    run.run_case.batch_per_gpu = batch;
    scratch_.get().update_run(run);
  }
  const ScalingTable got = table();
  ASSERT_EQ(got.rows.size(), 4u);
  for (const ScalingRow& row : got.rows) {
    if (row.world_size != 4) continue;
    EXPECT_NEAR(*row.efficiency, row.run_case.batch_per_gpu == 16 ? 100.0 / 110 : 150.0 / 160, 1e-9);
  }
}

TEST_F(Sweep, NotesMixedProvenanceAndDrawsItsOwnSeries) {
  add(1, 1, 40);
  store::RunRecord shared = *scratch_.get().run(add(1, 4, 60));
  shared.provenance.add(Provenance::kOversubscribed);
  scratch_.get().update_run(shared);
  const ScalingTable got = table();
  EXPECT_EQ(got.notes[0], "provenances are mixed: see the column of each row");
  const Figure figure = scaling_efficiency(got);
  ASSERT_EQ(figure.series.size(), 3u);
  EXPECT_EQ(figure.series[0].name, "measured");
  EXPECT_EQ(figure.series[1].name, "measured, oversubscribed");
  EXPECT_EQ(figure.series[2].name, "ideal");
  EXPECT_NEAR(figure.series[1].points[0].y, 100 * 40.0 / 60, 1e-9);
}

TEST_F(Sweep, RefusesAnUnknownOrEmptySweep) {
  add(1, 1, 40, ScalingMode::kWeak, "");
  EXPECT_THROW(scaling_table(scratch_.get(), "nosuch"), Error);
  EXPECT_THROW(scaling_table(scratch_.get(), ""), Error);
}

TEST_F(Sweep, AnEditedScriptIsNoReferenceAndNoRepetition) {
  add(1, 1, 1000);
  add(1, 2, 1000);
  for (const auto& [id, hash] : {std::pair("20261121T000000-00000001", "1"), {"20261121T000000-00000002", "2"}}) {
    store::RunRecord run = *scratch_.get().run(id);
    set_program(run.run_case, {"python3", "train.py"});
    set_program_files(run.environment.facts, {{"train.py", hash}});
    scratch_.get().update_run(run);
  }
  const ScalingTable edited = table();
  ASSERT_EQ(edited.rows.size(), 2u);
  EXPECT_FALSE(edited.rows[1].efficiency);
  EXPECT_TRUE(std::any_of(edited.notes.begin(), edited.notes.end(),
                          [](const auto& note) { return note.starts_with("the script changed between these runs: train.py"); }));
}

TEST_F(Sweep, AnEfficiencyFarAboveOneIsDoubted) {
  add(1, 1, 3000);
  add(1, 2, 1000);
  const ScalingTable odd = table();
  EXPECT_GT(*odd.rows[1].efficiency, 1.1);
  EXPECT_TRUE(std::any_of(odd.notes.begin(), odd.notes.end(), [](const auto& note) {
    return note.starts_with("2 GPUs: an efficiency of ") && note.find("check that the baseline") != std::string::npos;
  }));
  EXPECT_TRUE(doubt_about_efficiency(1.1).empty());
  const std::string smaller = doubt_about_efficiency(3.048, 0.125);
  EXPECT_TRUE(smaller.starts_with("an efficiency of 304.8% is against a reference of more GPUs")) << smaller;
  EXPECT_EQ(smaller.find("hardly possible"), std::string::npos);
}

}  // namespace
}  // namespace ddbench::analyzer
