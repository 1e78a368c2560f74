#include "analyzer/scaling/scaling_curve.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analyzer/finalize/finalize.h"
#include "analyzer/statistics/ratio_interval.h"
#include "core/error.h"
#include "coverage.h"
#include "stored_runs.h"
#include "synthetic_run.h"
#include "text.h"

namespace ddbench::analyzer {
namespace {

using test::add_run;
using test::contains;
using test::Coverage;
using test::noisy;
using test::run_of;
using test::sized;
using test::StoredRun;
using test::strong;

ScalingCurve curve_of(const store::RunStore& store, const CurveOptions& options = {}) {
  return scaling_curve(store, store.runs(), options);
}

std::string refusal(const store::RunStore& store, const CurveOptions& options = {}) {
  try {
    curve_of(store, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    return error.message();
  }
  return "";
}

TEST(RunRatio, IntervalsHoldTheTruthAsOftenAsTheySay) {
  std::mt19937_64 random(1);
  Coverage coverage;
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> above, below;
    for (int run = 0; run < 4; ++run) above.push_back(noisy(30, 0.02, random));
    for (int run = 0; run < 3; ++run) below.push_back(noisy(10, 0.01, random));
    coverage.add(*ratio_of_runs(above, below).interval, 3);
  }
  EXPECT_NEAR(coverage.share(), 0.95, coverage.tolerance());
}

TEST(RunRatio, OneRunHasNoIntervalAndNonsenseIsRefused) {
  const std::vector<double> one = {2}, two = {4, 4}, wrong = {0};
  EXPECT_DOUBLE_EQ(ratio_of_runs(two, one).value, 2);
  EXPECT_TRUE(contains(ratio_of_runs(two, one).interval.reason(), "--repeat"));
  EXPECT_FALSE(ratio_of_runs(two, two).interval);
  const std::vector<double> three{2, 2, 2};
  EXPECT_GT(ratio_of_runs(three, three).interval->high, 1);  // equal by chance is not equal for certain
  EXPECT_THROW(ratio_of_runs(wrong, one), Error);
  EXPECT_THROW(ratio_of_runs({}, one), Error);
}

TEST(ScalingCurve, ThreeDaysOnOneGpuToFiveHoursOnSixteen) {
  ScratchStore scratch;
  add_run(scratch.get(), run_of(strong(1, 1, 256), 3 * 24.0));
  add_run(scratch.get(), run_of(strong(2, 8, 256), 5.0));
  const ScalingCurve curve = curve_of(scratch.get());
  ASSERT_EQ(curve.rows.size(), 2u);
  EXPECT_NEAR(curve.rows[1].speedup, 14.4, 1e-9);
  EXPECT_NEAR(curve.rows[1].efficiency, 0.90, 1e-9);
  ASSERT_TRUE(curve.rows[1].serial_fraction);
  EXPECT_NEAR(curve.rows[1].serial_fraction->value, 0.0074, 0.00005);
  EXPECT_FALSE(curve.model);  // two sizes
}

TEST(ScalingCurve, WeakScalingWithRepetitionsHasIntervals) {
  ScratchStore scratch;
  for (const double noise : {0.99, 1.0, 1.01}) {
    add_run(scratch.get(), run_of(sized(1, 1), 100 * noise));
    add_run(scratch.get(), run_of(sized(1, 2), 104 * noise));
    add_run(scratch.get(), run_of(sized(2, 2), 110 * noise));
    add_run(scratch.get(), run_of(sized(4, 2), 125 * noise));
  }
  CurveOptions options;
  options.predict_at = {{16}, {64}};
  const ScalingCurve curve = curve_of(scratch.get(), options);
  ASSERT_EQ(curve.rows.size(), 4u);
  EXPECT_NEAR(curve.rows[2].efficiency, 100.0 / 110, 1e-6);
  ASSERT_TRUE(curve.rows[2].efficiency_interval);
  EXPECT_LT(curve.rows[2].efficiency_interval->low, curve.rows[2].efficiency);
  EXPECT_GT(curve.rows[2].efficiency_interval->high, curve.rows[2].efficiency);
  EXPECT_FALSE(curve.rows[2].serial_fraction);
  ASSERT_TRUE(curve.model) << curve.model.reason();
  ASSERT_EQ(curve.predictions.size(), 2u);
  EXPECT_FALSE(curve.predictions[0].extrapolated);
  EXPECT_TRUE(curve.predictions[1].extrapolated);
  EXPECT_NEAR(*curve.rows[0].measured_share, 0.25, 1e-6);
  EXPECT_TRUE(contains(curve.baseline, "1 GPU (run 20260101T000000-00000000 and 2 more)"));
}

TEST(ScalingCurve, WaterfallSumsToTheLostTime) {
  ScratchStore scratch;
  add_run(scratch.get(), run_of(sized(1, 1), 100));
  StoredRun four = run_of(sized(2, 2), 130);
  four.exposed_ms = 22;
  add_run(scratch.get(), four);
  const CurveRow row = curve_of(scratch.get()).rows[1];
  ASSERT_TRUE(row.waterfall);
  EXPECT_EQ(row.waterfall->total_ns(), row.lost_ns);
  EXPECT_EQ(row.lost_ns, 30'000'000);
  EXPECT_EQ((*row.waterfall)[store::StepPart::kExposedTransfer], 22'000'000);
  EXPECT_NEAR(*row.exposed_share, 22.0 / 130, 1e-9);
}

TEST(ScalingCurve, Baselines) {
  ScratchStore scratch;
  StoredRun without_ddp = run_of(sized(1, 1), 97);
  without_ddp.run_case.strategy = "none";
  without_ddp.sweep_id = "other";
  add_run(scratch.get(), without_ddp);
  for (const auto& [nodes, gpus, ms] : {std::tuple{1, 1, 100.0}, {1, 8, 103.0}, {2, 8, 104.0}}) {
    add_run(scratch.get(), run_of(sized(nodes, gpus), ms));
  }
  const std::vector<store::RunRecord> runs = scratch.get().runs({.sweep_id = "sweep"});
  const auto with = [&](const std::string& baseline) {
    CurveOptions options;
    options.baseline = baseline;
    return scaling_curve(scratch.get(), runs, options);
  };
  EXPECT_NEAR(with("").rows[2].efficiency, 100.0 / 104, 1e-9);
  EXPECT_NEAR(with("1").rows[2].efficiency, 100.0 / 104, 1e-9);
  EXPECT_NEAR(with("smallest").rows[2].efficiency, 100.0 / 104, 1e-9);
  EXPECT_NEAR(with("node").rows[2].efficiency, 103.0 / 104, 1e-9);
  EXPECT_EQ(with("node").baseline_gpus, 8);
  for (const std::string& note : with("node").notes) EXPECT_EQ(note.find("hardly possible"), std::string::npos) << note;
  EXPECT_NEAR(with("strategy=none").rows[2].efficiency, 0.933, 0.0005);
  EXPECT_THROW(with("strategy=zero"), Error);
  EXPECT_THROW(with("no such field=1"), Error);
  EXPECT_THROW(with("precision=fp32"), Error);  // of several sizes
}

TEST(ScalingCurve, CurvesThatMixWhatTheyMustNotAreRefusedWithTheValues) {
  const auto refused = [](auto&& change) {
    ScratchStore scratch;
    add_run(scratch.get(), run_of(sized(1, 1), 100));
    StoredRun other = run_of(sized(1, 2), 100);
    change(other);
    add_run(scratch.get(), other);
    return refusal(scratch.get());
  };
  EXPECT_TRUE(contains(refused([](StoredRun& run) { run.run_case.batch_per_gpu = 32; }),
                       "batch_per_gpu is \"32\" in 1 run, \"64\" in 1 run"));
  EXPECT_TRUE(
      contains(refused([](StoredRun& run) { run.run_case.precision = "bf16"; }), "precision is \"bf16\""));
  EXPECT_TRUE(
      contains(refused([](StoredRun& run) { run.run_case.work = ReferenceWorkload{"cnn"}; }), "workload is \"cnn\""));
  EXPECT_TRUE(contains(refused([](StoredRun& run) { run.run_case.strategy = "fsdp"; }), "--where"));
  EXPECT_TRUE(contains(refused([](StoredRun& run) { std::get<ReferenceWorkload>(run.run_case.work).options["hidden"] = "8"; }),
                       "workload_options.hidden is not set in 1 run, \"8\" in 1 run"));
  EXPECT_TRUE(
      contains(refused([](StoredRun& run) { run.run_case.scaling = ScalingMode::kStrong; }), "scaling"));
  EXPECT_EQ(refused([](StoredRun& run) { run.run_case.seed = 9; }), "");
}

TEST(ScalingCurve, AStrongCurveMayNotMixGlobalBatches) {
  ScratchStore scratch;
  add_run(scratch.get(), run_of(strong(1, 1, 256), 100));
  add_run(scratch.get(), run_of(strong(1, 2, 512), 100));
  EXPECT_TRUE(contains(refusal(scratch.get()), "global_batch is \"256\" in 1 run, \"512\" in 1 run"));
}

TEST(ScalingCurve, LinksMatterBetweenNodesOnly) {
  ScratchStore scratch;
  add_run(scratch.get(), run_of(sized(1, 1), 100));
  StoredRun two = run_of(sized(2, 1), 110);
  two.run_case.link = "1gbit";
  add_run(scratch.get(), two);
  EXPECT_EQ(curve_of(scratch.get()).rows.size(), 2u);
  StoredRun four = run_of(sized(4, 1), 150);
  four.run_case.link = "100mbit";
  add_run(scratch.get(), four);
  EXPECT_TRUE(contains(refusal(scratch.get()), "link is"));
}

TEST(ScalingCurve, MixedProvenanceGetsATableAndNoLaw) {
  ScratchStore scratch;
  for (int gpus = 1; gpus <= 8; gpus *= 2) {
    StoredRun run = run_of(sized(1, gpus), 100 + gpus);
    if (gpus > 2) run.provenance.add(Provenance::kOversubscribed);
    add_run(scratch.get(), run);
  }
  const ScalingCurve curve = curve_of(scratch.get());
  EXPECT_EQ(curve.rows.size(), 4u);
  ASSERT_FALSE(curve.model);
  EXPECT_TRUE(contains(curve.model.reason(), "measured (1, 2 GPUs) and measured+oversubscribed (4, 8 GPUs)"));
  CurveOptions options;
  options.any_provenance = true;
  EXPECT_TRUE(curve_of(scratch.get(), options).model);
}

TEST(ScalingCurve, RunsWithoutFiguresAreLeftOutAndNamed) {
  ScratchStore scratch;
  add_run(scratch.get(), run_of(sized(1, 1), 100));
  StoredRun failed = run_of(sized(1, 2), 100);
  failed.state = store::RunState::kFailed;
  failed.reason = "rank 1 was killed";
  add_run(scratch.get(), failed);
  add_run(scratch.get(), run_of(sized(1, 4), 0));  // a clock that stood still
  const ScalingCurve curve = curve_of(scratch.get());
  EXPECT_EQ(curve.rows.size(), 1u);
  ASSERT_GE(curve.notes.size(), 2u);
  EXPECT_TRUE(contains(curve.notes[0], "rank 1 was killed"));
}

TEST(ScalingCurve, NothingToShowIsSaid) {
  ScratchStore scratch;
  EXPECT_TRUE(contains(refusal(scratch.get()), "no runs"));
  StoredRun failed = run_of(sized(1, 2), 100);
  failed.state = store::RunState::kFailed;
  add_run(scratch.get(), failed);
  EXPECT_TRUE(contains(refusal(scratch.get()), "none of the 1 runs gave figures"));
  add_run(scratch.get(), run_of(sized(1, 4), 100));
  CurveOptions options;
  options.baseline = "1";
  EXPECT_TRUE(contains(refusal(scratch.get(), options),
                       "there are no such runs; nodes × GPUs of the curve are 1 × 4"));
}

TEST(ScalingCurve, UtilisationWhereModelAndMachineAreKnown) {
  ScratchStore scratch;
  StoredRun run = run_of(sized(1, 8), 100);
  run.run_case.sku = "Standard_ND96asr_v4";
  run.run_case.device = "cuda";
  run.facts["workload.flops_per_sample"] = "1e12";
  run.facts["workload.hardware_flops_per_sample"] = "1.25e12";
  add_run(scratch.get(), run);
  const CurveRow row = curve_of(scratch.get()).rows[0];
  ASSERT_TRUE(row.utilisation.mfu) << row.utilisation.mfu.reason();
  EXPECT_NEAR(*row.utilisation.mfu, 8 * 64 / 0.1 * 1e12 / (8 * 19.5e12), 1e-6);
  ASSERT_TRUE(row.utilisation.hfu) << row.utilisation.hfu.reason();
  EXPECT_NEAR(*row.utilisation.hfu, 1.25 * *row.utilisation.mfu, 1e-6);
  StoredRun unknown = run_of(sized(1, 8), 100);
  ScratchStore other;
  add_run(other.get(), unknown);
  EXPECT_TRUE(contains(curve_of(other.get()).rows[0].utilisation.mfu.reason(), "FLOPs"));
}

TEST(ScalingCurve, UtilisationOfACpuIsOfItsMeasuredPeak) {
  ScratchStore scratch;
  StoredRun run = run_of(sized(1, 2), 100);
  run.run_case.sku = "Standard_ND96asr_v4";  // whose GPUs did nothing
  run.facts["workload.flops_per_sample"] = "1e8";
  add_run(scratch.get(), run);
  EXPECT_TRUE(contains(curve_of(scratch.get()).rows[0].utilisation.mfu.reason(), "did not measure"));
  ScratchStore measured;
  run.facts["device.gemm_peak_tflops"] = "0.1";
  add_run(measured.get(), run);
  const CurveRow row = curve_of(measured.get()).rows[0];
  ASSERT_TRUE(row.utilisation.mfu) << row.utilisation.mfu.reason();
  EXPECT_NEAR(*row.utilisation.mfu, 2 * 64 / 0.1 * 1e8 / (2 * 0.1e12), 1e-9);
}

TEST(ScalingCurve, FiguresShowIdealMeasuredAndLaw) {
  ScratchStore scratch;
  for (const double noise : {0.995, 1.0, 1.005}) {
    for (int gpus = 1; gpus <= 16; gpus *= 2)
      add_run(scratch.get(), run_of(sized(1, gpus), (100 + 3 * gpus) * noise));
  }
  const ScalingCurve curve = curve_of(scratch.get());
  const Figure speedup = speedup_figure(curve);
  ASSERT_EQ(speedup.series.size(), 3u);
  EXPECT_EQ(speedup.series[0].name, "ideal");
  EXPECT_NEAR(speedup.series[0].points[1].y, 16, 1e-9);
  EXPECT_EQ(speedup.series[1].points.size(), 5u);
  EXPECT_TRUE(speedup.series[1].points[3].interval);
  EXPECT_TRUE(speedup.series[2].provenance.has(Provenance::kPredicted));
  EXPECT_TRUE(speedup.series[2].points[3].interval);
  const Figure efficiency = efficiency_figure(curve);
  EXPECT_NEAR(efficiency.series[0].points[1].y, 100, 1e-9);
  EXPECT_NEAR(efficiency.series[1].points[4].y, 100.0 * 103 / 148, 1e-6);
}

TEST(ScalingCurve, ThePredictedSpeedupHoldsTheErrorOfTheBaseline) {
  const auto speedup_ahead = [](double noise) {
    ScratchStore scratch;
    for (const double factor : {1 - noise, 1.0, 1 + noise}) {
      add_run(scratch.get(), run_of(sized(1, 1), 103 * factor));
      for (int gpus = 2; gpus <= 16; gpus *= 2)
        add_run(scratch.get(), run_of(sized(1, gpus), 100 + 3 * gpus));
    }
    CurveOptions options;
    options.predict_at = {{1, 32}};
    const Figure figure = speedup_figure(curve_of(scratch.get(), options));
    return figure.series.back().points.back();
  };
  const Point quiet = speedup_ahead(0.001);
  const Point noisy = speedup_ahead(0.1);
  ASSERT_TRUE(quiet.interval && noisy.interval);
  EXPECT_EQ(noisy.x, 32);
  // The baseline alone: three runs +-10%, Student's t 4.3.
  EXPECT_GT(noisy.interval->high / noisy.y, 1.27);
  EXPECT_LT(noisy.interval->low / noisy.y, 1 / 1.27);
  EXPECT_LT(quiet.interval->high / quiet.y, 1.27);
}

TEST(ScalingCurve, ASizeThatCannotBePredictedIsNamedAsTheUserWroteIt) {
  ScratchStore scratch;
  for (const int gpus : {1, 2}) add_run(scratch.get(), run_of(sized(1, gpus), 100 + gpus));
  CurveOptions options;
  options.predict_at = {asked_size("4")};
  EXPECT_TRUE(refusal(scratch.get(), options).starts_with("--predict 4: 2 nodes of 2 GPUs"));
  options.predict_at = {asked_size("3x2")};
  EXPECT_TRUE(refusal(scratch.get(), options).starts_with("--predict 3x2: "));
}

TEST(Stragglers, TheLateRankAndWhatItCosts) {
  ScratchStore scratch;
  SyntheticRun run;
  run.run_case = sized(2, 2);
  run.set_world(2, 2);
  run.lag_us = {0, 1, 6, 2};  // rank 2 is 4 us behind the third
  run.store_into(scratch.get());
  finalize_run(scratch.get(), run.id);
  const auto report = find_stragglers(scratch.get(), run.id);
  ASSERT_TRUE(report) << report.reason();
  EXPECT_EQ(report->collectives, static_cast<std::uint64_t>(run.run_case.steps));
  const Straggler& worst = report->ranks[0];
  EXPECT_EQ(worst.rank, 2);
  EXPECT_DOUBLE_EQ(worst.share_last, 1);
  EXPECT_NEAR(worst.late_ns, 4000, 1e-6);
  EXPECT_NEAR(worst.cost_ns_per_step, (6 + 5 + 4) / 3.0 * 1000, 1e-6);
  ASSERT_EQ(report->nodes.size(), 2u);
  EXPECT_EQ(report->nodes[0].node, 1);
  EXPECT_NEAR(report->nodes[0].late_ns, 5000, 1e-6);  // behind rank 1, the last of node 0
  ASSERT_FALSE(report->notes.empty());
  EXPECT_TRUE(contains(report->notes[0], "rank 2"));
  EXPECT_EQ(straggler_figure(*report).series.size(), 2u);
}

TEST(Stragglers, BelowTheResolutionOfTheClocksNobodyIsNamed) {
  ScratchStore scratch;
  SyntheticRun run;
  run.run_case = sized(1, 2);
  run.set_world(1, 2);
  run.lag_us = {0, 3};
  run.clock_uncertainty_ns = 100'000;
  run.store_into(scratch.get());
  const auto report = find_stragglers(scratch.get(), run.id);
  ASSERT_TRUE(report) << report.reason();
  EXPECT_EQ(report->unresolved, report->collectives);
  EXPECT_EQ(report->ranks[0].times_last, 0u);
  EXPECT_TRUE(contains(report->notes.at(0), "below the resolution"));
}

TEST(Stragglers, WhatIsNotKnownHasAReason) {
  ScratchStore scratch;
  const store::RunId one = add_run(scratch.get(), run_of(sized(1, 1), 100));
  EXPECT_TRUE(contains(find_stragglers(scratch.get(), one).reason(), "single rank"));
  const store::RunId imported = add_run(scratch.get(), run_of(sized(1, 4), 100));
  EXPECT_FALSE(find_stragglers(scratch.get(), imported));
  EXPECT_THROW(find_stragglers(scratch.get(), "nobody"), Error);
}

TEST(ScalingCurve, SizesMayBeOnSkusOfTheirOwn) {
  ScratchStore scratch;
  const auto on = [](int nodes, int gpus, const char* sku) {
    RunCase run_case = sized(nodes, gpus);
    run_case.sku = sku;
    return run_of(run_case, 100);
  };
  add_run(scratch.get(), on(1, 1, "Standard_NC24ads_A100_v4"));
  add_run(scratch.get(), on(1, 4, "Standard_NC96ads_A100_v4"));
  add_run(scratch.get(), on(2, 4, "Standard_NC96ads_A100_v4"));
  const ScalingCurve curve = curve_of(scratch.get());
  EXPECT_EQ(curve.rows.size(), 3u);
  EXPECT_TRUE(contains(curve.notes.front(),
                       "2 SKUs: 1 GPU on Standard_NC24ads_A100_v4; 4, 8 GPUs on Standard_NC96ads_A100_v4"));
  EXPECT_TRUE(contains(curve.model.reason(), "2 SKUs"));
  add_run(scratch.get(), on(1, 4, "Standard_NC64as_T4_v3"));  // two SKUs at one size are two curves
  EXPECT_TRUE(contains(refusal(scratch.get()), "sku is \"Standard_NC24ads_A100_v4\""));
}

}  // namespace
}  // namespace ddbench::analyzer
