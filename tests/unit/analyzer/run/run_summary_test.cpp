#include "analyzer/run/run_summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include "analyzer/collectives/bus_factor.h"
#include "analyzer/run/caveats.h"
#include "analyzer/finalize/finalize.h"
#include "core/error.h"
#include "core/run_case/program_case.h"
#include "synthetic_run.h"

namespace ddbench::analyzer {
namespace {

using store::StepPart;

bool has_note(const RunSummary& summary, const std::string& beginning) {
  return std::any_of(summary.notes.begin(), summary.notes.end(),
                     [&](const std::string& note) { return note.rfind(beginning, 0) == 0; });
}

class Summarize : public testing::Test {
 protected:
  Summarize() {
    baseline_.id = "20261121T000000-000000aa";
    baseline_.set_world(1, 1);
    baseline_.step_us = 40;
    run_.id = "20261121T000001-000000bb";
    run_.set_world(2, 1);
    run_.lag_us = {0, 3};
  }

  /// Stores both runs, the second stated against the first.
  RunSummary summarize_pair() {
    store::RunRecord record = run_.record();
    record.baseline_id = baseline_.id;
    return summarize_pair(record, baseline_.record());
  }

  RunSummary summarize_pair(const store::RunRecord& record, const store::RunRecord& baseline) {
    baseline_.store_into(scratch_.get(), baseline);
    run_.store_into(scratch_.get(), record);
    finalize_run(scratch_.get(), baseline_.id);
    finalize_run(scratch_.get(), run_.id);
    return summarize(scratch_.get(), run_.id);
  }

  ScratchStore scratch_;
  SyntheticRun baseline_;
  SyntheticRun run_;
};

TEST(BusFactor, IsThatOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor("all_reduce", 16), 1.875);
  EXPECT_DOUBLE_EQ(bus_factor("all_reduce", 2), 1);
  EXPECT_DOUBLE_EQ(bus_factor("all_gather", 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor("reduce_scatter", 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor("all_to_all", 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor("broadcast", 16), 1);
  EXPECT_DOUBLE_EQ(bus_factor("reduce", 16), 1);
  EXPECT_DOUBLE_EQ(bus_factor("send_recv", 16), 1);
  EXPECT_THROW(bus_factor("gossip", 4), Error);
}

TEST_F(Summarize, ReportsStepTimeThroughputAndLoss) {
  const RunSummary summary = summarize_pair();
  EXPECT_EQ(summary.measured_steps, 60);
  EXPECT_EQ(summary.probed_steps, 60);
  EXPECT_DOUBLE_EQ(summary.step_time_ns.value().value, 60'000);
  EXPECT_DOUBLE_EQ(summary.samples_per_s.value(), 2 * 64 / 60e-6);
  EXPECT_DOUBLE_EQ(summary.loss_first.value(), 2 + 0.25) << "the very first step, warm-up included";
  EXPECT_DOUBLE_EQ(summary.loss_last.value(), 2 - 0.64 + 0.25);
}

TEST_F(Summarize, TakesTheElapsedTimeAndNotThatOfTheSlowestRanks) {
  run_.store_into(scratch_.get());
  std::vector<store::StepRecord> steps;
  for (std::uint32_t step = 0; step < 65; ++step) {
    for (int rank = 0; rank < 2; ++rank) {
      store::StepRecord& record = steps.emplace_back();
      record.rank = rank;
      record.step = step;
      record.duration_ns = (step % 2 == 0) == (rank == 0) ? 100 : 70;
      record.begin_ns = step / 2 * 170 + (step % 2 == 0 ? 0 : rank == 0 ? 100 : 70);
      record.partition[StepPart::kIdle] = record.duration_ns;
    }
  }
  scratch_.get().put_steps(run_.id, steps);
  const RunSummary summary = summarize(scratch_.get(), run_.id);
  EXPECT_DOUBLE_EQ(summary.step_time_ns->value, (30 * 170 + 30) / 60.0) << "from 70 of step 5 on, 60 steps";
  EXPECT_EQ(summary.partition.total_ns(), std::llround(summary.step_time_ns->value));
}

TEST_F(Summarize, PartitionsTheMeanStepToTheNanosecond) {
  run_.store_into(scratch_.get());
  std::vector<store::StepRecord> steps;
  std::array<std::int64_t, 2> ends_ns{};
  for (std::uint32_t step = 5; step < 12; ++step) {
    for (int rank = 0; rank < 2; ++rank) {
      store::StepRecord& record = steps.emplace_back();
      record.rank = rank;
      record.step = step;
      for (std::size_t part = 0; part < record.partition.ns.size(); ++part) {
        record.partition.ns[part] = static_cast<std::int64_t>((step * 7 + part * 13 + rank * 5) % 11);
      }
      record.duration_ns = record.partition.total_ns();
      record.begin_ns = ends_ns[rank];
      ends_ns[rank] += record.duration_ns;
      record.communication_ns = record.partition.exposed_communication_ns() + 1;
      record.overlap_ns = 1;
    }
  }
  scratch_.get().put_steps(run_.id, steps);
  const RunSummary summary = summarize(scratch_.get(), run_.id);
  EXPECT_EQ(summary.partition.total_ns(),
            std::llround(static_cast<double>(std::max(ends_ns[0], ends_ns[1])) / 7));
  EXPECT_EQ(summary.exposed_communication_ns.value(), summary.partition.exposed_communication_ns());
  EXPECT_EQ(summary.overlap_ns.value() + summary.exposed_communication_ns.value(), summary.communication_ns);
}

TEST_F(Summarize, WhatAProgramsComputeHidIsNotKnownWhereItWasNotRecorded) {
  scratch_.get().create_run(run_.record());
  const auto put_on_both_ranks = [this](const store::StepRecord& record) {
    std::vector<store::StepRecord> records{record, record};
    records[1].rank = 1;
    scratch_.get().put_steps(run_.id, records);
  };
  store::StepRecord record;
  record.step = 5;
  record.partition[store::StepPart::kExposedTransfer] = 40;
  record.partition[store::StepPart::kHost] = 60;
  record.duration_ns = 100;
  record.communication_ns = 40;
  put_on_both_ranks(record);
  EXPECT_EQ(summarize(scratch_.get(), run_.id).exposed_communication_ns.value(), 40)
      << "the engine's is recorded";
  store::RunRecord run = *scratch_.get().run(run_.id);
  set_program(run.run_case, {"train.py"});
  scratch_.get().update_run(run);
  const RunSummary program = summarize(scratch_.get(), run_.id);
  EXPECT_EQ(program.communication_ns, 40);
  EXPECT_NE(program.exposed_communication_ns.reason().find("computed was recorded"), std::string::npos);
  EXPECT_FALSE(program.overlap_ns);
  record.partition[store::StepPart::kOtherCompute] = 1;
  record.duration_ns = 101;
  put_on_both_ranks(record);
  EXPECT_EQ(summarize(scratch_.get(), run_.id).exposed_communication_ns.value(), 40);
}

TEST_F(Summarize, StatesWeakEfficiencyAndWhereItWasLost) {
  const RunSummary summary = summarize_pair();
  const Efficiency& efficiency = summary.efficiency.value();
  EXPECT_EQ(efficiency.baseline.id, baseline_.id);
  EXPECT_NEAR(efficiency.value, 40.0 / 60, 1e-12);
  EXPECT_NEAR(efficiency.speedup, 80.0 / 60, 1e-12);
  EXPECT_EQ(efficiency.serial_fraction.reason(), "weak scaling");
  EXPECT_EQ(efficiency.lost_ns, 20 * kUs);
  EXPECT_NEAR(1 - efficiency.value, static_cast<double>(efficiency.lost_ns) / summary.step_time_ns->value,
              1e-12);
  EXPECT_NE(efficiency.interval.reason().find("needs 3 or more each"), std::string::npos);
  EXPECT_EQ(efficiency.waterfall.total_ns(), efficiency.lost_ns);
  EXPECT_EQ(efficiency.waterfall[StepPart::kExposedTransfer], 13 * kUs);
  EXPECT_EQ(efficiency.waterfall[StepPart::kIdle], 7 * kUs);
  EXPECT_EQ(efficiency.waterfall[StepPart::kBackward], 0);
}

TEST_F(Summarize, StatesStrongEfficiencyAgainstAnNthOfTheBaseline) {
  run_.run_case.scaling = baseline_.run_case.scaling = ScalingMode::kStrong;
  baseline_.run_case.batch_per_gpu = 128;
  run_.run_case.batch_per_gpu = 64;
  const RunSummary summary = summarize_pair();
  const Efficiency& efficiency = summary.efficiency.value();
  EXPECT_NEAR(efficiency.speedup, 40.0 / 60, 1e-12);
  EXPECT_NEAR(efficiency.value, 20.0 / 60, 1e-12);
  EXPECT_NEAR(efficiency.serial_fraction.value(), (1.5 - 0.5) / 0.5, 1e-12);
  EXPECT_EQ(efficiency.lost_ns, 40 * kUs);
  EXPECT_EQ(efficiency.waterfall.total_ns(), efficiency.lost_ns);
  EXPECT_EQ(efficiency.waterfall[StepPart::kBackward], 10 * kUs);
}

TEST_F(Summarize, DoesNotCompareDifferentBatches) {
  baseline_.run_case.batch_per_gpu = 32;
  const RunSummary summary = summarize_pair();
  EXPECT_EQ(summary.efficiency.reason(), "the baseline's batch per GPU is 32, the run's is 64");
}

TEST_F(Summarize, SaysWhyThereIsNoEfficiency) {
  const RunSummary summary = summarize_pair(run_.record(), baseline_.record());
  EXPECT_EQ(summary.efficiency.reason(), "no baseline");
  EXPECT_EQ(summarize(scratch_.get(), baseline_.id).efficiency.reason(),
            "the run has 1 GPU: it is what others are compared with");
  store::RunRecord orphan = run_.record();
  orphan.baseline_id = "20200101T000000-deadbeef";
  scratch_.get().update_run(orphan);
  EXPECT_EQ(summarize(scratch_.get(), run_.id).efficiency.reason(),
            "baseline run 20200101T000000-deadbeef is not in this store");
}

TEST_F(Summarize, NotesABaselineFromAnotherEnvironment) {
  store::RunRecord record = run_.record();
  record.baseline_id = baseline_.id;
  store::RunRecord elsewhere = baseline_.record();
  elsewhere.environment.fingerprint = "f2";
  EXPECT_TRUE(
      has_note(summarize_pair(record, elsewhere), "the baseline 20261121T000000-000000aa ran in another"));
}

TEST_F(Summarize, NotesWhatOversubscriptionAllowsToSee) {
  run_.set_world(4, 4);
  store::RunRecord record = run_.record();
  record.baseline_id = baseline_.id;
  record.provenance.add(Provenance::kOversubscribed);
  record.provenance.add(Provenance::kEmulatedNetwork);
  const RunSummary summary = summarize_pair(record, baseline_.record());
  EXPECT_TRUE(has_note(summary,
                       "oversubscribed: 16 ranks share 2 cores: at best 12.5% efficiency can be seen here, "
                       "whatever the network"));
  EXPECT_TRUE(has_note(summary, "emulated network veth: 4 nodes are emulated on one machine"));
}

TEST_F(Summarize, PassesOnWhatTheLauncherNotedUnlessItIsSaidAlready) {
  run_.set_world(2, 2);
  store::RunRecord record = run_.record();
  record.provenance.add(Provenance::kOversubscribed);
  record.environment.facts["note.1"] = "4 ranks share 2 cores";
  record.environment.facts["note.2"] = "no network namespaces: nodes share plain loopback";
  const RunSummary summary = summarize_pair(record, baseline_.record());
  EXPECT_FALSE(has_note(summary, "4 ranks share"));
  EXPECT_TRUE(has_note(summary, "no network namespaces"));
}

TEST_F(Summarize, FindsAKnownProbeOverhead) {
  run_.probe_off_every = 4;
  run_.probe_cost_ns = 300;  // 0.5% of 60 us
  const RunSummary summary = summarize_pair();
  EXPECT_NEAR(summary.probe_overhead_percent.value().value, 0.5, 1e-9);
  EXPECT_EQ(summary.measured_steps, 60);
  EXPECT_EQ(summary.probed_steps, 45);
  EXPECT_FALSE(has_note(summary, "the probes cost"));
}

TEST_F(Summarize, NotesAProbeOverheadAboveOnePercent) {
  run_.probe_off_every = 4;
  run_.probe_cost_ns = 3000;
  EXPECT_TRUE(has_note(summarize_pair(), "the probes cost 5.0%, at most 5.0% of a step"));
}

TEST(ProbeCostInWords, StatesTheEstimateAndItsBound) {
  EXPECT_EQ(probe_cost_in_words({6.5, {1.2, 13.6, 0.95, ""}}), "6.5%, at most 13.6%");
  EXPECT_EQ(probe_cost_in_words({-0.2, {-0.7, 0.4, 0.95, ""}}), "at most 0.4%");
  EXPECT_EQ(probe_cost_in_words({-0.6, {-0.9, -0.1, 0.95, ""}}), "at most 0.0%");
}

TEST_F(Summarize, GivesNoProbeCostIfProbeOffStepsTookLonger) {
  run_.probe_off_every = 4;
  run_.probe_cost_ns = -3000;  // 5% of 60 us
  const std::string reason = summarize_pair().probe_overhead_percent.reason();
  EXPECT_TRUE(reason.starts_with("probe-off steps took longer than their neighbours, by 5.0%")) << reason;
}

TEST_F(Summarize, GivesNoProbeCostIfCuptiWentOnRecording) {
  run_.probe_off_every = 4;
  run_.probe_cost_ns = 300;
  store::RunRecord record = run_.record();
  record.environment.facts["cupti.filtered_windows"] = "15";
  const std::string reason = summarize_pair(record, baseline_.record()).probe_overhead_percent.reason();
  EXPECT_TRUE(reason.ends_with("because of CUDA graphs")) << reason;
}

TEST_F(Summarize, StatesBandwidthByTransferTime) {
  const RunSummary summary = summarize_pair();
  ASSERT_EQ(summary.collectives.size(), 1u);
  EXPECT_DOUBLE_EQ(summary.collectives[0].algbw_gb_per_s.value(), 4e6 / 20e-6 / 1e9);
  EXPECT_DOUBLE_EQ(summary.collectives[0].busbw_gb_per_s.value(), 200);
}

TEST_F(Summarize, GivesNoBusBandwidthToAnUnknownCollective) {
  run_.store_into(scratch_.get());
  store::CollectiveRecord record;
  record.function = "gossip";
  record.bytes = 10'000;
  record.transfer_ns = 10'000;
  scratch_.get().put_collectives(run_.id, std::vector<store::CollectiveRecord>{record});
  const RunSummary summary = summarize(scratch_.get(), run_.id);
  EXPECT_DOUBLE_EQ(summary.collectives[0].algbw_gb_per_s.value(), 1);
  EXPECT_FALSE(summary.collectives[0].busbw_gb_per_s);
}

TEST_F(Summarize, ThrowsForAnUnknownRunOnly) {
  EXPECT_THROW(summarize(scratch_.get(), "nosuch"), Error);
  store::RunRecord record = run_.record();
  record.state = store::RunState::kRunning;
  scratch_.get().create_run(record);
  const RunSummary summary = summarize(scratch_.get(), run_.id);
  EXPECT_EQ(summary.step_time_ns.reason(), "no steps");
  EXPECT_EQ(summary.loss_first.reason(), "no loss recorded");
  EXPECT_EQ(summary.partition.total_ns(), 0);
}

TEST(PhysicalDevices, AreCountedByHostAndNotByRank) {
  store::RunRecord run;
  run.run_case.nodes = 4;
  run.run_case.gpus_per_node = 4;
  run.environment.facts["cpu.cores"] = "2";
  std::vector<store::RankRecord> ranks(16);
  for (store::RankRecord& rank : ranks) rank.host = "one";
  EXPECT_EQ(physical_devices(run, ranks), 2) << "16 ranks on 2 cores";
  for (std::size_t rank = 0; rank < 8; ++rank) ranks[rank].host = "other";
  EXPECT_EQ(physical_devices(run, ranks), 4) << "on 2 hosts of 2 cores";
  run.environment.facts["cpu.cores"] = "64";
  EXPECT_EQ(physical_devices(run, ranks), 16);
  run.run_case.device = "cuda";
  run.environment.facts["gpu.count"] = "1";
  EXPECT_EQ(physical_devices(run, ranks), 2) << "8 ranks on each of 2 GPUs";
  run.environment.facts.clear();
  EXPECT_EQ(physical_devices(run, ranks), 16) << "not known";
  EXPECT_EQ(physical_devices(run, {}), 16);
}

TEST_F(Summarize, NotesFewStepsAndDroppedSpans) {
  run_.run_case.steps = 6;
  run_.store_into(scratch_.get());
  std::vector<store::RankRecord> ranks = scratch_.get().ranks(run_.id);
  ranks[1].dropped_spans = 17;
  scratch_.get().put_ranks(run_.id, ranks);
  finalize_run(scratch_.get(), run_.id);
  const RunSummary summary = summarize(scratch_.get(), run_.id);
  EXPECT_EQ(summary.dropped_spans, 17u);
  EXPECT_TRUE(has_note(summary, "few steps: 6 measured"));
  EXPECT_TRUE(has_note(summary, "17 spans were dropped"));
}

/// 30 steps of one rank of two, which no probe recorded.
std::vector<store::StepRecord> plain_steps(std::int64_t first_ns, std::int64_t early_ns, std::int64_t late_ns) {
  std::vector<store::StepRecord> steps;
  std::int64_t begin_ns = 0;
  for (std::uint32_t step = 0; step < 30; ++step) {
    store::StepRecord& record = steps.emplace_back();
    record.step = step;
    record.begin_ns = begin_ns;
    record.duration_ns = step == 0 ? first_ns : step < 15 ? early_ns : late_ns;
    record.probes_on = false;
    begin_ns += record.duration_ns;
  }
  return steps;
}

RunSummary summary_of(store::RunStore& store, store::RunRecord record, const std::vector<store::StepRecord>& steps) {
  record.run_case.warmup = 0;
  store.create_run(record);
  store.put_ranks(record.id, std::vector<store::RankRecord>(1));
  store.put_steps(record.id, steps);
  return summarize(store, record.id);
}

TEST_F(Summarize, NotesStepsThatDependOnEachOther) {
  const RunSummary summary = summary_of(scratch_.get(), run_.record(), plain_steps(1'000'000, 1'000'000, 1'100'000));
  EXPECT_TRUE(summary.step_time_ns->interval) << summary.step_time_ns->interval.reason();
  EXPECT_LT(*summary.independent_steps, 3);
  EXPECT_TRUE(has_note(summary, "the 30 measured steps depend on each other and are worth 1 independent"));
}

TEST_F(Summarize, HasNoIntervalWhereOneStepDominates) {
  const RunSummary summary = summary_of(scratch_.get(), run_.record(), plain_steps(40'000'000, 1'000'000, 1'000'100));
  EXPECT_TRUE(summary.step_time_ns->interval.reason().starts_with("one step dominates, with 58% of the time"))
      << summary.step_time_ns->interval.reason();
  EXPECT_EQ(summary.distribution->skew_ns.reason(), "only 1 of 2 ranks was recorded");
}

TEST_F(Summarize, ASlowdownOfAnySizeIsNone) {
  const auto slowdown = [&](const std::string& id, const std::string& fact) {
    store::RunRecord record = run_.record();
    record.id = id;
    record.environment.facts["analysis.compute_slowdown_percent"] = fact;
    scratch_.get().create_run(record);
    return summarize(scratch_.get(), id).compute_slowdown_percent;
  };
  EXPECT_DOUBLE_EQ(slowdown("a", "14.2 9.6 19.1")->value, 14.2);
  EXPECT_TRUE(slowdown("b", "-85.6 -99.9 1957").reason().starts_with("operators scatter too much")) << "as it was measured once";
}

TEST_F(Summarize, MeansOfStepsHaveNoDistribution) {
  store::RunRecord record = run_.record();
  record.provenance = {Provenance::kImported};
  record.environment.facts["import.mean_of_steps"] = "10";
  const RunSummary summary = summary_of(scratch_.get(), record, plain_steps(1'000'000, 1'000'000, 1'100'000));
  EXPECT_TRUE(summary.step_time_ns);
  EXPECT_EQ(summary.distribution.reason(), "the source gives means of 10 steps");
  EXPECT_EQ(summary.probe_overhead_percent.reason(), "ddbench did not record this run");
}

TEST_F(Summarize, DrawsBarsThatSumToTheStepAndToTheLoss) {
  const RunSummary summary = summarize_pair();
  const Figure partition = partition_figure(summary);
  double step_ms = 0;
  for (const Series& series : partition.series) step_ms += series.points.at(0).y;
  EXPECT_NEAR(step_ms, 0.060, 1e-12);
  const Figure waterfall = waterfall_figure(summary);
  double lost_ms = 0;
  for (const Point& point : waterfall.series.at(0).points) lost_ms += point.y;
  EXPECT_NEAR(lost_ms, 0.020, 1e-12);
  EXPECT_NEAR(waterfall.series.at(1).points.at(0).y, lost_ms, 1e-12);
}

}  // namespace
}  // namespace ddbench::analyzer
