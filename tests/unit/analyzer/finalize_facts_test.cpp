// What finalize_run stores as facts beside the figures: what the probes saw and lost, and how training ran.
#include <algorithm>

#include "analyzer/attribution/nccl_join.h"
#include "analyzer/run/run_summary.h"
#include "core/nccl_event.h"
#include "finalize_fixture.h"

namespace ddbench::analyzer {
namespace {

TEST_F(FinalizeRun, ReportsTheAlgorithmOfACollective) {
  run_.store_into(store());
  std::vector<std::string> names = kSyntheticNames;
  names.push_back(nccl_event_name({"all_reduce", "RING", "LL128", 8, "socket"}));
  for (int rank = 0; rank < 2; ++rank) {
    std::vector<Span> events;
    for (Span span : run_.spans_of(rank)) {
      if (span.kind != SpanKind::kCommunication) continue;
      span.kind = SpanKind::kNcclEvent;
      span.name_id = static_cast<std::uint32_t>(names.size() - 1);
      span.correlation += 1000;
      span.bytes = 8'000'000;
      events.push_back(span);
    }
    store().append_spans(run_.id, rank, events, names);
  }
  finalize_run(store(), run_.id);
  const std::vector<store::CollectiveRecord> collectives = store().collectives(run_.id);
  ASSERT_EQ(collectives.size(), 2u);
  EXPECT_EQ(collectives[0].bytes, 4'000'000u);
  EXPECT_EQ(collectives[0].nccl_algorithm, "");
  EXPECT_EQ(collectives[1].bytes, 8'000'000u);
  EXPECT_EQ(collectives[1].count, 30u);
  EXPECT_EQ(collectives[1].nccl_algorithm, "RING LL128, 8 channels, socket");
  EXPECT_TRUE(has_nccl_settings(summarize(store(), run_.id)));
}

TEST_F(FinalizeRun, IsLoudAboutKernelsOfWhichNoneIsRecognisedAsNccls) {
  run_.store_into(store());
  SyntheticRun unknown = run_;
  unknown.id = "20261121T000000-00000003";
  store().create_run(unknown.record());
  std::vector<std::string> names = kSyntheticNames;
  names.push_back(nccl_event_name({"all_reduce", "RING", "LL128", 8, "socket"}));
  for (int rank = 0; rank < 2; ++rank) {
    std::vector<Span> spans = unknown.spans_of(rank);
    for (Span& span : spans) {
      if (span.kind != SpanKind::kCommunication) continue;
      span.kind = SpanKind::kNcclEvent;
      span.name_id = static_cast<std::uint32_t>(names.size() - 1);
    }
    store().append_spans(unknown.id, rank, spans, names);
  }
  finalize_run(store(), unknown.id);
  EXPECT_TRUE(store().run(unknown.id)->valid) << "without CUPTI they are the communication";
  store().append_step_values(unknown.id, 1, "cupti.records",
                             std::vector<std::pair<std::uint32_t, double>>{{0, 5000}});
  finalize_run(store(), unknown.id);
  const store::RunRecord record = *store().run(unknown.id);
  EXPECT_FALSE(record.valid);
  EXPECT_NE(record.invalid_reason.find("no kernel that is recognised as NCCL's"), std::string::npos)
      << record.invalid_reason;
  EXPECT_EQ(record.environment.facts.at("cupti.records"), "5000");
}

TEST_F(FinalizeRun, WhatTheProbesLostAndWhatNcclRanWithIsReported) {
  run_.store_into(store());
  store().append_step_values(run_.id, 0, "cupti.dropped_records",
                             std::vector<std::pair<std::uint32_t, double>>{{0, 3}, {1, 7}});  // so far
  store().append_step_values(run_.id, 1, "cupti.dropped_records",
                             std::vector<std::pair<std::uint32_t, double>>{{0, 4}});
  for (const int rank : {0, 1}) {
    store().append_step_values(run_.id, rank, "cupti.newer_records", std::vector<std::pair<std::uint32_t, double>>{{0, 130'200}});
    store().append_step_values(run_.id, rank, "nccl.unknown_bytes", std::vector<std::pair<std::uint32_t, double>>{{0, 2}});
  }
  std::vector<std::string> names = kSyntheticNames;
  names.insert(names.end(), {"nccl.NCCL_ALGO: Ring: 8", "nccl.no_kernel_events: /dev/shm is small", "cupti.unavailable: another tool holds CUPTI"});
  store().append_spans(run_.id, 0, std::vector<Span>{{.step = 2000}}, names);
  finalize_run(store(), run_.id);
  const auto facts = stored().environment.facts;
  EXPECT_EQ(facts.at("cupti.dropped_records"), "11");
  EXPECT_EQ(facts.at("nccl.NCCL_ALGO"), "Ring: 8");
  EXPECT_EQ(facts.at("nccl.no_kernel_events"), "/dev/shm is small");
  EXPECT_EQ(facts.at("nccl.unknown_bytes"), "4");
  EXPECT_EQ(facts.at("cupti.newer_records"), "130200") << "a version is not added up";
  EXPECT_FALSE(facts.contains("nccl.with_phases"));
  EXPECT_EQ(facts.at("cupti.unavailable"), "another tool holds CUPTI (on 1 of 2 ranks)");
  const std::vector<std::string> notes = summarize(store(), run_.id).notes;
  const auto has = [&](const std::string& words) {
    return std::any_of(notes.begin(), notes.end(),
                       [&](const std::string& note) { return note.find(words) != std::string::npos; });
  };
  EXPECT_TRUE(has("CUPTI dropped 11 record(s)"));
  EXPECT_TRUE(
      has("no kernels of GPUs were recorded, and operators are timed by CUDA's events: another tool"));
  store().append_spans(run_.id, 1, std::vector<Span>{{.step = 2000}}, names);
  finalize_run(store(), run_.id);
  EXPECT_EQ(stored().environment.facts.at("cupti.unavailable"), "another tool holds CUPTI") << "on all";
}

TEST_F(FinalizeRun, ReportsStepsWithoutAnUpdate) {
  run_.store_into(store());
  store().append_step_values(
      run_.id, 0, "loss_scale",
      std::vector<std::pair<std::uint32_t, double>>{{0, 65536}, {1, 32768}, {2, 16384}});
  store().append_step_values(run_.id, 0, "skipped_update",
                             std::vector<std::pair<std::uint32_t, double>>{{0, 1}, {1, 1}, {2, 0}});
  finalize_run(store(), run_.id);
  finalize_run(store(), run_.id);
  const std::vector<std::string> notes = summarize(store(), run_.id).notes;
  EXPECT_EQ(
      std::count(notes.begin(), notes.end(),
                 "2 step(s) updated nothing: their gradients times the loss scale were not finite; the scale "
                 "of the last step was 16384"),
      1);
}

TEST_F(FinalizeRun, ReportsWhetherStepsRanAsACudaGraph) {
  run_.store_into(store());
  finalize_run(store(), run_.id);
  EXPECT_EQ(stored().environment.facts.count("training.cuda_graph"), 0U);
  std::vector<std::string> names = store().span_names(run_.id, 0);
  const auto fact = [&](const char* what) {
    names.push_back(std::string("training.cuda_graph: ") + what);
    store().append_spans(run_.id, 0, {}, names);
    finalize_run(store(), run_.id);
    return stored().environment.facts.at("training.cuda_graph");
  };
  EXPECT_EQ(fact("captured from step 4"), "captured from step 4");
  EXPECT_EQ(fact("off: from step 9 on, no memory"), "off: from step 9 on, no memory") << "the later word";
  const std::vector<std::string> notes = summarize(store(), run_.id).notes;
  EXPECT_EQ(std::count(notes.begin(), notes.end(), "CUDA graph off: from step 9 on, no memory"), 1);
}

}  // namespace
}  // namespace ddbench::analyzer
