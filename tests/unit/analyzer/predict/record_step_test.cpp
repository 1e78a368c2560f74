#include "analyzer/predict/record_step.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace ddbench::analyzer {
namespace {

const std::vector<std::string> kNames = {"operator", "all_reduce"};

Span span(SpanKind kind, std::int64_t begin_ns, std::int64_t end_ns, int bucket = -1, std::uint64_t sequence = 0) {
  Span result;
  result.begin_ns = begin_ns;
  result.end_ns = end_ns;
  result.kind = kind;
  result.step = 1;
  if (bucket >= 0) result.bucket = static_cast<std::uint16_t>(bucket);
  if (kind == SpanKind::kCommunication) {
    result.lane = Lane::kCommunication;
    result.name_id = 1;
    result.bytes = 1000;
    result.correlation = collective_key(1, sequence);
  }
  return result;
}

RankStep step_of(const std::vector<Span>& spans, std::int64_t end_ns, double slowdown = 0) {
  const auto collectives = rank_collectives(spans, kNames, 0, end_ns);
  std::map<std::uint64_t, std::uint32_t> place;
  for (const RankCollective& one : collectives) place.emplace(one.correlation, static_cast<std::uint32_t>(place.size()));
  return rank_step(spans, collectives, place, 0, end_ns, slowdown);
}

std::string in_words(const RankStep& step) {
  constexpr std::array kKinds = {"pass", "optimizer", "data", "host"};
  std::string words;
  for (const StepEvent& event : step.events) {
    words += words.empty() ? "" : ", ";
    if (event.action == StepAction::kWork) {
      words += std::string(kKinds[static_cast<std::size_t>(event.work)]) + " " + std::to_string(std::llround(event.ns));
    } else {
      words += (event.action == StepAction::kIssue ? "issue " : "wait ") + std::to_string(event.collective);
    }
  }
  return words;
}

/// As the engine records a step of DDP: the host under all, averaged gradients end a bucket.
const std::vector<Span> kDdp = {span(SpanKind::kHost, 0, 400),
                                span(SpanKind::kDataWait, 10, 30),
                                span(SpanKind::kForward, 50, 150),
                                span(SpanKind::kBackward, 150, 240),
                                span(SpanKind::kBackward, 240, 250, 0),
                                span(SpanKind::kBackward, 250, 390),
                                span(SpanKind::kBackward, 390, 400, 1),
                                span(SpanKind::kHost, 705, 800),
                                span(SpanKind::kOptimizer, 710, 780),
                                span(SpanKind::kCommunication, 260, 500, 0, 1),
                                span(SpanKind::kCommunication, 505, 700, 1, 2)};

TEST(RecordStep, AStepOfDdp) {
  const RankStep step = step_of(kDdp, 800);
  EXPECT_EQ(in_words(step),
            "host 10, data 20, host 20, pass 200, issue 0, pass 150, issue 1, wait 0, wait 1, host 10, "
            "optimizer 70, host 20");
  EXPECT_EQ(step.start_delay_ns, (std::vector<double>{10, 5}));  // 250 to 260; the lane is free at 500
  EXPECT_EQ(step.duration_ns, 800);
}

TEST(RecordStep, ComputeBesideCommunicationIsStoredAsIfAlone) {
  // 140 of the 150 ns between the buckets lie beside the first one, 20% slower.
  const RankStep step = step_of(kDdp, 800, 0.2);
  double pass = 0;
  for (const StepEvent& event : step.events)
    pass += event.action == StepAction::kWork && event.work == WorkKind::kPass ? event.ns : 0;
  EXPECT_NEAR(pass, 200 + 10 + 140 / 1.2, 1e-9);
}

TEST(RecordStep, TimeWithoutWorkIsHostTimeWhereNoCollectiveExplainsIt) {
  EXPECT_EQ(in_words(step_of({span(SpanKind::kForward, 0, 100), span(SpanKind::kOptimizer, 300, 400)}, 400)),
            "pass 100, host 200, optimizer 100");
  // A collective covers a small part of it only.
  EXPECT_EQ(in_words(step_of({span(SpanKind::kForward, 0, 100), span(SpanKind::kCommunication, 120, 140, -1, 1),
                              span(SpanKind::kForward, 300, 400)},
                             400)),
            "pass 100, host 20, issue 0, host 180, pass 100, wait 0");
}

TEST(RecordStep, TheSecondCollectiveOfABucketHasDataOfTheFirst) {
  const std::vector<Span> spans = {span(SpanKind::kBackward, 0, 50, 0), span(SpanKind::kCommunication, 60, 100, 0, 1),
                                   span(SpanKind::kCommunication, 150, 200, 0, 2)};
  const auto collectives = rank_collectives(spans, kNames, 0, 300);
  ASSERT_EQ(collectives.size(), 2U);
  EXPECT_EQ(collectives[0].ready_ns, 50);
  EXPECT_EQ(collectives[1].ready_ns, 150);
}

TEST(RecordStep, EmptyAndDamagedStepsHarmNothing) {
  EXPECT_EQ(in_words(step_of({}, 100)), "host 100");
  EXPECT_EQ(in_words(step_of({span(SpanKind::kForward, 90, 20), span(SpanKind::kForward, -50, 40)}, 100)),
            "pass 40, host 60");
}

TEST(RecordStep, KernelsOfAGpuTakeATimeHoweverLittleTheyDo) {
  const auto kernel = [](std::int64_t begin_ns, std::int64_t end_ns) {
    Span made = span(SpanKind::kForward, begin_ns, end_ns);
    made.lane = Lane::kDeviceCompute;
    return made;
  };
  std::vector<Span> spans = {kernel(10'000, 12'000), kernel(12'000, 72'000), kernel(80'000, 90'000)};
  const RankStep on_gpu = step_of(spans, 100'000);
  double fixed_ns = 0;
  for (const StepEvent& event : on_gpu.events) {
    fixed_ns += event.fixed_ns;
    EXPECT_LE(event.fixed_ns, event.ns);
  }
  EXPECT_DOUBLE_EQ(fixed_ns, 2'000 + 3'000 + 3'000);
  for (Span& each : spans) each.lane = Lane::kMain;
  for (const StepEvent& event : step_of(spans, 100'000).events) EXPECT_DOUBLE_EQ(event.fixed_ns, 0);
}

}  // namespace
}  // namespace ddbench::analyzer
