#include "analyzer/program/recording_cost.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/program_phase.h"

namespace ddbench::analyzer {
namespace {

Span span_of(SpanKind kind, std::int64_t begin_ns, std::int64_t end_ns, std::uint32_t name_id, std::uint64_t bytes = 0,
             std::uint32_t step = kNoStep) {
  Span span;
  span.kind = kind;
  span.begin_ns = begin_ns;
  span.end_ns = end_ns;
  span.name_id = name_id;
  span.bytes = bytes;
  span.step = step;
  return span;
}

/// Two steps of 100 ns with a pause between, and readings before, in and between them.
ProgramRank recorded() {
  ProgramRank rank;
  rank.names = {std::string(kHookCost), std::string(kDrainCost), "step", "aten::mm"};
  for (const auto& [at_ns, ns] : {std::pair{50, 1000}, {110, 7}, {190, 3}, {250, 500}, {310, 4}, {400, 900}})
    rank.spans.push_back(span_of(SpanKind::kHost, at_ns, at_ns, 0, static_cast<std::uint64_t>(ns)));
  rank.spans.push_back(span_of(SpanKind::kHost, 320, 320, 1, 20));
  rank.spans.push_back(span_of(SpanKind::kCompute, 120, 130, 3));
  return rank;
}

TEST(RecordingCost, IsWhatWasSaidWithinTheStepsThatCount) {
  ProgramRank rank = recorded();
  const auto readings = take_recording_cost(rank);
  EXPECT_EQ(readings.size(), 7u);
  ASSERT_EQ(rank.spans.size(), 1u) << "the operator alone";
  rank.spans.push_back(span_of(SpanKind::kStep, 100, 200, 2, 0, 0));
  rank.spans.push_back(span_of(SpanKind::kStep, 300, 400, 2, 0, 1));
  const auto both = recording_cost(readings, rank.spans, 0);
  ASSERT_TRUE(both);
  EXPECT_DOUBLE_EQ(both->hooks_ns, (7 + 3 + 4) / 2.0);
  EXPECT_DOUBLE_EQ(both->drain_ns, 20 / 2.0);
  EXPECT_DOUBLE_EQ(recording_cost(readings, rank.spans, 1)->hooks_ns, 4) << "without the warm-up";
}

TEST(RecordingCost, IsUnknownWithoutStepsOrReadings) {
  ProgramRank rank = recorded();
  const auto readings = take_recording_cost(rank);
  EXPECT_FALSE(recording_cost(readings, rank.spans, 0));
  rank.spans.push_back(span_of(SpanKind::kStep, 100, 200, 2, 0, 0));
  EXPECT_FALSE(recording_cost({}, rank.spans, 0));
}

TEST(RecordingCost, DamagedReadingsDoNotOverflow) {
  ProgramRank rank;
  rank.names = {std::string(kHookCost)};
  for (int i = 0; i < 3; ++i) rank.spans.push_back(span_of(SpanKind::kHost, 10, 10, 0, ~std::uint64_t{0}));
  const auto readings = take_recording_cost(rank);
  rank.spans.push_back(span_of(SpanKind::kStep, 0, 100, 0, 0, 0));
  EXPECT_GT(recording_cost(readings, rank.spans, 0)->hooks_ns, 0);
}

}  // namespace
}  // namespace ddbench::analyzer
