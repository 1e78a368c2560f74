#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analyzer/rate/checkpoint_times.h"
#include "analyzer/run/run_summary.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "core/nccl_event.h"
#include "finalize_fixture.h"

namespace ddbench::analyzer {
namespace {

using store::StepPart;

TEST_F(FinalizeRun, PartitionsEachStepOfEachRank) {
  finalize();
  const std::vector<store::StepRecord> steps = store().steps(run_.id);
  ASSERT_EQ(steps.size(), 2u * 35);
  // Rank 0 arrives at 22 and all are there at 25; backward hides the collective until 32; it ends at 45.
  for (const store::StepRecord& step : steps) {
    EXPECT_EQ(step.partition.total_ns(), step.duration_ns);
    EXPECT_EQ(step.duration_ns, 60 * kUs);
    EXPECT_EQ(step.partition[StepPart::kHost], 2 * kUs);
    EXPECT_EQ(step.partition[StepPart::kForward], 10 * kUs);
    EXPECT_EQ(step.partition[StepPart::kBackward], 20 * kUs);
    EXPECT_EQ(step.partition[StepPart::kOptimizer], 5 * kUs);
    EXPECT_EQ(step.partition[StepPart::kExposedTransfer], 13 * kUs);
    EXPECT_EQ(step.partition[StepPart::kExposedPeerWait], 0);
    EXPECT_EQ(step.partition[StepPart::kIdle], 10 * kUs);
    EXPECT_EQ(step.communication_ns, (step.rank == 0 ? 23 : 20) * kUs);
    EXPECT_EQ(step.overlap_ns, (step.rank == 0 ? 10 : 7) * kUs);
    EXPECT_EQ(step.peer_wait_ns, (step.rank == 0 ? 3 : 0) * kUs);
    EXPECT_DOUBLE_EQ(step.loss, 2 - 0.01 * step.step + 0.5 * step.rank);
  }
  EXPECT_TRUE(stored().valid);
}

TEST_F(FinalizeRun, WaitsByTheGpusClockHavePrecedenceAndAreComparedWithThoseOfTheRanksClocks) {
  run_.store_into(store());
  std::vector<std::string> names = kSyntheticNames;
  names.emplace_back(kNcclInitialSync);
  std::vector<Span> waits;
  for (Span span : run_.spans_of(0)) {
    if (span.kind != SpanKind::kCommunication) continue;
    span.kind = SpanKind::kNcclEvent;
    span.name_id = static_cast<std::uint32_t>(names.size() - 1);
    span.end_ns = span.begin_ns + 5 * kUs;
    waits.push_back(span);
  }
  store().append_spans(run_.id, 0, waits, names);
  finalize_run(store(), run_.id);
  for (const store::StepRecord& step : store().steps(run_.id)) {
    EXPECT_EQ(step.peer_wait_ns, (step.rank == 0 ? 5 : 0) * kUs);
    EXPECT_EQ(step.partition.total_ns(), step.duration_ns);
  }
  EXPECT_EQ(stored().environment.facts.at("nccl.peer_wait_by_phases_ns"), "175000") << "of 35 steps";
  EXPECT_EQ(stored().environment.facts.at("nccl.peer_wait_by_clocks_ns"), "105000");
}

TEST_F(FinalizeRun, JoinsCollectivesOnAlignedClocks) {
  run_.clock_offset_ns = {0, -987'654'321};
  run_.clock_uncertainty_ns = 50;
  finalize();
  const std::vector<store::CollectiveRecord> collectives = store().collectives(run_.id);
  ASSERT_EQ(collectives.size(), 1u);
  EXPECT_EQ(collectives[0].function, "all_reduce");
  EXPECT_EQ(collectives[0].bucket, 0);
  EXPECT_EQ(collectives[0].bytes, 4'000'000u);
  EXPECT_EQ(collectives[0].count, 30u) << "warm-up is not counted, and two ranks make one collective";
  EXPECT_EQ(collectives[0].transfer_ns, 20 * kUs);
  EXPECT_EQ(collectives[0].duration_ns, 21'500) << "between 23 and 20 us";
  EXPECT_EQ(collectives[0].peer_wait_ns, 1'500) << "between 3 and 0 us";
  EXPECT_TRUE(collectives[0].peer_wait_resolved);
  EXPECT_EQ(store().steps(run_.id)[0].peer_wait_ns, 3 * kUs);
}

TEST_F(FinalizeRun, CountsAWaitBelowTheClocksUncertaintyAsTransfer) {
  run_.clock_uncertainty_ns = 2000;  // of a difference: 4 us, above the wait of 3 us
  run_.lag_us = {0, 3};
  run_.step_us = 80;
  run_.transfer_us = 30;
  finalize();
  EXPECT_FALSE(store().collectives(run_.id)[0].peer_wait_resolved);
  EXPECT_EQ(store().steps(run_.id)[0].peer_wait_ns, 0);
  const RunSummary summary = summarize(store(), run_.id);
  ASSERT_FALSE(summary.peer_wait_ns);
  EXPECT_EQ(summary.peer_wait_ns.reason(), "below clock resolution (2.0 us)");
  EXPECT_EQ(summary.notes.back(), "peer wait: below clock resolution (2.0 us); it is counted as transfer");
}

TEST_F(FinalizeRun, ShowsAnExposedPeerWait) {
  run_.lag_us = {0, 15};  // all are there at 37; rank 0 stands still from 32 to 37
  run_.step_us = 80;
  finalize();
  const store::StepRecord step = store().steps(run_.id)[0];
  EXPECT_EQ(step.partition[StepPart::kExposedPeerWait], 5 * kUs);
  EXPECT_EQ(step.partition[StepPart::kExposedTransfer], 20 * kUs);
  EXPECT_EQ(step.peer_wait_ns, 15 * kUs);
}

TEST_F(FinalizeRun, KeepsBucketsAndSizesApart) {
  run_.store_into(store());
  for (int rank = 0; rank < 2; ++rank) {
    std::vector<Span> spans = run_.spans_of(rank);
    std::vector<Span> more;
    for (Span span : spans) {
      if (span.kind != SpanKind::kCommunication || span.step < 10) continue;
      span.correlation += 1000;
      span.bucket = 1;
      span.bytes = 8'000'000;
      more.push_back(span);
      span.correlation += 1000;
      span.bucket = kNoBucket;
      span.bytes = 8;
      more.push_back(span);
    }
    append(rank, more);
  }
  finalize_run(store(), run_.id);
  const std::vector<store::CollectiveRecord> collectives = store().collectives(run_.id);
  ASSERT_EQ(collectives.size(), 3u);
  EXPECT_EQ(collectives[0].bucket, -1);
  EXPECT_EQ(collectives[0].bytes, 8u);
  EXPECT_EQ(collectives[1].count, 30u);
  EXPECT_EQ(collectives[2].bucket, 1);
  EXPECT_EQ(collectives[2].count, 25u);
}

TEST_F(FinalizeRun, SaysHowManyCollectivesAKilledRankLeftIncomplete) {
  run_.run_case.steps = 20;
  store::RunRecord record = run_.record();
  record.state = store::RunState::kFailed;
  record.reason = "rank 1 (node 1) was killed by signal 9";
  SyntheticRun cut = run_;
  cut.run_case.steps = 10;
  store().create_run(record);
  store().append_spans(run_.id, 0, run_.spans_of(0), kSyntheticNames);
  store().append_spans(run_.id, 1, cut.spans_of(1), kSyntheticNames);
  store::RankRecord rank;
  rank.clock.shared_clock = true;
  store().put_ranks(run_.id, std::vector<store::RankRecord>{rank});
  rank.rank = 1;
  store().put_ranks(run_.id, std::vector<store::RankRecord>{rank});
  finalize_run(store(), run_.id);
  EXPECT_EQ(store().collectives(run_.id)[0].count, 10u);
  EXPECT_EQ(stored().environment.facts.at("analysis.incomplete_collectives"), "10");
  EXPECT_EQ(store().steps(run_.id).size(), 25u + 15u) << "steps before the failure remain readable";
  const RunSummary summary = summarize(store(), run_.id);
  EXPECT_EQ(summary.measured_steps, 10);
  EXPECT_EQ(summary.run.reason, record.reason);
  const auto& notes = summary.notes;
  EXPECT_NE(std::find(notes.begin(), notes.end(),
                      "10 collective(s) were not seen on all ranks: not joined, counted as transfer"),
            notes.end());
}

TEST_F(FinalizeRun, IsLoudAboutARunOfSeveralRanksWithoutCommunication) {
  run_.store_into(store());
  SyntheticRun silent = run_;
  silent.id = "20261121T000000-00000002";
  store().create_run(silent.record());
  for (int rank = 0; rank < 2; ++rank) {
    std::vector<Span> spans = silent.spans_of(rank);
    std::erase_if(spans, [](const Span& span) { return span.kind == SpanKind::kCommunication; });
    store().append_spans(silent.id, rank, spans, kSyntheticNames);
  }
  finalize_run(store(), silent.id);
  const store::RunRecord record = *store().run(silent.id);
  EXPECT_FALSE(record.valid);
  EXPECT_NE(record.invalid_reason.find("rank 0 of 2 shows no communication"), std::string::npos);
  EXPECT_EQ(summarize(store(), silent.id).notes.front().rfind("INVALID, do not use these figures", 0), 0u);
}

TEST_F(FinalizeRun, IsLoudAboutReplicasThatDiffer) {
  run_.parameter_hash = {"aa", "bb"};
  finalize();
  EXPECT_FALSE(stored().valid);
  EXPECT_NE(stored().invalid_reason.find("parameters of rank 0 hash to aa, those of rank 1 to bb"),
            std::string::npos);
}

TEST_F(FinalizeRun, IsLoudAboutARunWithoutMeasuredSteps) {
  run_.run_case.steps = 0;
  finalize();
  EXPECT_FALSE(stored().valid);
  EXPECT_EQ(stored().invalid_reason,
            "no measured step was recorded (5 warm-up and 0 measured steps were asked for)");
  EXPECT_FALSE(summarize(store(), run_.id).step_time_ns);
}

class ContinuedRun : public FinalizeRun {
 protected:
  /// As if it had begun with this step.
  RunSummary finalize_continued(int first_step) {
    run_.run_case.checkpoint_every = 10;
    run_.store_into(store());
    store::RunRecord record = stored();
    set_fact(record.environment.facts, fact_key<"resumed.from">, std::string("20261120T000000-00000001"));
    set_fact(record.environment.facts, fact_key<"resumed.at_step">, first_step);
    store().update_run(record);
    finalize_run(store(), run_.id);
    return summarize(store(), run_.id);
  }
};

TEST_F(ContinuedRun, WarmsUpAgain) {
  const RunSummary summary = finalize_continued(7);
  EXPECT_TRUE(summary.run.valid) << summary.run.invalid_reason;
  EXPECT_EQ(summary.measured_steps, 23) << "7 and 5 steps of warm-up of 35";
  EXPECT_EQ(store().collectives(run_.id).at(0).count, 23U);
  EXPECT_EQ(store().kernels(run_.id).at(0).count, 46U) << "of two ranks";
  EXPECT_EQ(store().steps(run_.id).size(), 2U * 35) << "all are kept";
  store().append_step_values(run_.id, 0, "checkpoint_seconds", std::vector<std::pair<std::uint32_t, double>>{{9, 1.0}, {19, 4.6}});
  EXPECT_DOUBLE_EQ(checkpoint_ns_a_step(store(), std::vector{stored()}), 2e8) << "that of step 9 is in the warm-up";
}

TEST_F(ContinuedRun, WithNoMoreStepsThanItsWarmUpIsCompleteAndNothingIsMeasured) {
  const RunSummary summary = finalize_continued(30);
  EXPECT_TRUE(summary.run.valid) << summary.run.invalid_reason;
  EXPECT_EQ(summary.run.state, store::RunState::kDone);
  EXPECT_EQ(summary.measured_steps, 0);
  EXPECT_EQ(summary.step_time_ns.reason(), "it continued another run, and the steps that were left are its warm-up (--warmup)");
  EXPECT_EQ(summary.work_per_s.reason(), summary.step_time_ns.reason());
}

TEST_F(FinalizeRun, KeepsProbeOffStepsWithTheirDurationOnly) {
  run_.probe_off_every = 4;
  finalize();
  int off = 0;
  for (const store::StepRecord& step : store().steps(run_.id)) {
    if (step.probes_on) continue;
    ++off;
    EXPECT_EQ(step.partition.total_ns(), 0);
    EXPECT_EQ(step.duration_ns, 60 * kUs);
    EXPECT_FALSE(std::isnan(step.loss));
  }
  EXPECT_EQ(off, 2 * 8);
  EXPECT_TRUE(stored().valid);
}

TEST_F(FinalizeRun, GivesTheSameRowsWhenCalledAgain) {
  finalize();
  const auto first = store().steps(run_.id);
  const auto kernels = store().kernels(run_.id);
  finalize_run(store(), run_.id);
  EXPECT_EQ(store().steps(run_.id).size(), first.size());
  EXPECT_EQ(store().collectives(run_.id).size(), 1u);
  ASSERT_EQ(store().kernels(run_.id).size(), kernels.size());
  EXPECT_EQ(store().kernels(run_.id)[0].total_ns, kernels[0].total_ns);
}

TEST_F(FinalizeRun, TheRowsDoNotDependOnTheNumberOfThreads) {
  run_.set_world(4, 8);
  for (std::size_t rank = 0; rank < 32; ++rank) {
    run_.lag_us[rank] = static_cast<std::int64_t>(rank * 7 % 13);
    run_.clock_offset_ns[rank] = static_cast<std::int64_t>(rank) * 1'000'003;
  }
  run_.clock_uncertainty_ns = 500;
  run_.run_case.steps = 200;  // several ranges of steps
  run_.store_into(store());
  const auto rows_with = [&](std::size_t threads) {
    finalize_run(store(), run_.id, threads);
    std::vector<std::int64_t> values;
    for (const store::StepRecord& step : store().steps(run_.id)) {
      values.insert(values.end(), {step.rank, step.step, step.begin_ns, step.communication_ns, step.overlap_ns, step.peer_wait_ns,
                                   step.peer_wait_uncertainty_ns, std::llround(1e6 * step.loss)});
      values.insert(values.end(), step.partition.ns.begin(), step.partition.ns.end());
    }
    for (const store::CollectiveRecord& row : store().collectives(run_.id)) {
      values.insert(values.end(), {static_cast<std::int64_t>(row.count), row.transfer_ns, row.duration_ns, row.peer_wait_ns,
                                   row.transfer_uncertainty_ns, row.peer_wait_uncertainty_ns});
    }
    for (const store::KernelRecord& row : store().kernels(run_.id)) {
      values.insert(values.end(), {static_cast<std::int64_t>(row.count), row.total_ns, row.max_ns});
    }
    return std::pair(values, stored().environment.facts);
  };
  const auto alone = rows_with(1);
  ASSERT_EQ(store().steps(run_.id).size(), 32u * 205);
  ASSERT_EQ(store().collectives(run_.id).at(0).count, 200u);
  EXPECT_TRUE(rows_with(2) == alone);
  EXPECT_TRUE(rows_with(11) == alone);
}

TEST_F(FinalizeRun, SumsKernelsOverMeasuredStepsOfAllRanks) {
  finalize();
  const std::vector<store::KernelRecord> kernels = store().kernels(run_.id);
  ASSERT_EQ(kernels.size(), 4u) << "neither steps nor collectives";
  EXPECT_EQ(kernels[0].name, "backward");
  EXPECT_EQ(kernels[0].kind, "backward");
  EXPECT_EQ(kernels[0].count, 60u);
  EXPECT_EQ(kernels[0].total_ns, 60 * 20 * kUs);
  EXPECT_EQ(kernels[0].max_ns, 20 * kUs);
}

TEST_F(FinalizeRun, CountsASpanForEveryStepItReachesInto) {
  // More than one range of steps; the prefetch marked with step 63 lasts into the middle of step 64's idle
  // time.
  run_.run_case.steps = 200;
  run_.store_into(store());
  const std::vector<Span> spans = run_.spans_of(0);
  std::int64_t begin_of_64_ns = 0;
  for (const Span& span : spans) {
    if (span.kind == SpanKind::kStep && span.step == 64) begin_of_64_ns = span.begin_ns;
  }
  append(0,
         {synthetic_span(SpanKind::kDataWait, 1, 63, begin_of_64_ns - 4 * kUs, begin_of_64_ns + 55 * kUs)});
  finalize_run(store(), run_.id);
  const std::vector<store::StepRecord> steps = store().steps(run_.id);
  ASSERT_EQ(steps.size(), 2u * 205);
  EXPECT_EQ(steps[2 * 63].partition[StepPart::kDataWait], 4 * kUs);
  // Optimizer ends at 50 and idle follows: 5 us of it are the loader's; so are the 2 us that host would have
  // had.
  EXPECT_EQ(steps[2 * 64].partition[StepPart::kDataWait], (5 + 2) * kUs);
  EXPECT_EQ(store().collectives(run_.id)[0].count, 200u);
}

TEST_F(FinalizeRun, ReadsARunThatWasCutOffBeforeItsRankRows) {
  store::RunRecord record = run_.record();
  record.state = store::RunState::kInterrupted;
  store().create_run(record);
  for (int rank = 0; rank < 2; ++rank)
    store().append_spans(run_.id, rank, run_.spans_of(rank), kSyntheticNames);
  finalize_run(store(), run_.id);
  EXPECT_EQ(store().steps(run_.id).size(), 70u);
  const store::CollectiveRecord collective = store().collectives(run_.id)[0];
  EXPECT_EQ(collective.transfer_ns, 20 * kUs) << "the shortest part: the rank that came last";
  EXPECT_FALSE(collective.peer_wait_resolved);
  const RunSummary summary = summarize(store(), run_.id);
  EXPECT_EQ(summary.measured_steps, 30);
  EXPECT_EQ(summary.peer_wait_ns.reason(), "the clocks of the ranks were not compared");
}

TEST_F(FinalizeRun, LeavesOutSpansWithImpossibleTimes) {
  run_.store_into(store());
  append(0, {synthetic_span(SpanKind::kForward, 2, 7, 500, 100),
             synthetic_span(SpanKind::kStep, 0, 40, 500, 100)});
  finalize_run(store(), run_.id);
  EXPECT_EQ(stored().environment.facts.at("analysis.damaged_spans"), "2");
  EXPECT_EQ(store().steps(run_.id).size(), 70u);
}

TEST_F(FinalizeRun, RefusesAnUnknownRun) {
  EXPECT_THROW(finalize_run(store(), "nosuch"), Error);
}

TEST_F(FinalizeRun, TakesARunWithoutAnySpans) {
  store().create_run(run_.record());
  finalize_run(store(), run_.id);
  EXPECT_FALSE(stored().valid);
  EXPECT_TRUE(store().steps(run_.id).empty());
}

}  // namespace
}  // namespace ddbench::analyzer
