#include <gtest/gtest.h>

#include "analyzer/import/trace/job.h"
#include "analyzer/import/trace/rank_builder.h"
#include "expect_error.h"

namespace ddbench::imports {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;

/// With an all_reduce of 100 bytes that begins at each of these times, and steps that begin at those.
RankTrace trace_of(int rank, const std::vector<std::int64_t>& all_reduces, const std::vector<std::int64_t>& steps = {}) {
  RankTrace trace;
  trace.file = "rank" + std::to_string(rank) + ".json";
  trace.info.rank = rank;
  trace.compute = ComputeSource::kKernels;
  for (const std::int64_t at : all_reduces) {
    Span span;
    span.begin_ns = at;
    span.end_ns = at + 10;
    span.kind = SpanKind::kCommunication;
    span.bytes = 100;
    TraceCollective collective;
    collective.span = trace.spans.spans.size();
    collective.function = "all_reduce";
    collective.group = "0";
    collective.group_size = 2;
    collective.enqueued_ns = at;
    trace.spans.spans.push_back(span);
    trace.collectives.push_back(collective);
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Span step;
    step.begin_ns = steps[i];
    step.end_ns = steps[i] + 50;
    step.kind = SpanKind::kStep;
    step.bytes = i;
    trace.steps.push_back(step);
  }
  return trace;
}

TraceJob numbered(std::vector<RankTrace> traces) {
  TraceJob job = put_together(std::move(traces));
  number_collectives(job);
  return job;
}

std::vector<std::uint64_t> keys_of(const RankTrace& trace) {
  std::vector<std::uint64_t> keys;
  for (const TraceCollective& collective : trace.collectives) keys.push_back(trace.spans.spans[collective.span].correlation);
  return keys;
}

TEST(NumberCollectives, WithoutMarksEqualNumbersAreJoined) {
  const TraceJob job = numbered({trace_of(0, {0, 100}), trace_of(1, {0, 100})});
  EXPECT_NE(keys_of(job.traces[0])[0], 0u);
  EXPECT_EQ(keys_of(job.traces[0]), keys_of(job.traces[1]));
}

TEST(NumberCollectives, WithoutMarksUnequalNumbersAreNot) {
  // Rank 1's recording began a call later: its first one is rank 0's second.
  const TraceJob job = numbered({trace_of(0, {0, 100, 200}), trace_of(1, {100, 200})});
  EXPECT_EQ(keys_of(job.traces[0]), (std::vector<std::uint64_t>{0, 0, 0}));
  EXPECT_EQ(keys_of(job.traces[1]), (std::vector<std::uint64_t>{0, 0}));
  EXPECT_TRUE(test::contains(job.notes.back(), "different numbers of collectives of process group 0 and the traces mark no steps")) << job.notes.back();
}

TEST(NumberCollectives, WithoutMarksASurplusAtTheEndIsLeftOut) {
  // Buckets of several sizes show that both ranks' first calls are the same ones.
  const auto sized = [](RankTrace trace) {
    for (std::size_t i = 0; i < trace.spans.spans.size(); ++i) trace.spans.spans[i].bytes = 100 * (i % 3 + 1);
    return trace;
  };
  const TraceJob job = numbered({sized(trace_of(0, {0, 100, 200, 300, 400})), sized(trace_of(1, {0, 100, 200, 300}))});
  const auto first = keys_of(job.traces[0]), second = keys_of(job.traces[1]);
  EXPECT_EQ(std::vector(first.begin(), first.begin() + 4), second);
  EXPECT_NE(second[0], 0u);
  // Three more are a whole round: they may as well lie at the begin.
  const TraceJob unclear = numbered({sized(trace_of(0, {0, 100, 200, 300, 400, 500, 600})), sized(trace_of(1, {0, 100, 200, 300}))});
  EXPECT_EQ(keys_of(unclear.traces[1]), (std::vector<std::uint64_t>{0, 0, 0, 0}));
}

TEST(NumberCollectives, BeforeTheFirstMarkRanksMayHaveRecordedMore) {
  const TraceJob job = numbered({trace_of(0, {0, 100, 210, 310}, {200, 300}), trace_of(1, {100, 210, 310}, {200, 300})});
  const auto first = keys_of(job.traces[0]), second = keys_of(job.traces[1]);
  EXPECT_EQ(std::vector(first.begin(), first.begin() + 2), (std::vector<std::uint64_t>{0, 0}));
  EXPECT_EQ(second[0], 0u);
  EXPECT_NE(first[2], 0u);
  EXPECT_EQ(first[2], second[1]);
  EXPECT_EQ(first[3], second[2]);
  EXPECT_TRUE(test::contains(job.notes.back(), "before the first marked step")) << job.notes.back();
}

TEST(NumberCollectives, ClocksThatDifferALittleAreShownByCollectives) {
  const TraceJob near = numbered({trace_of(0, {0, 100}), trace_of(1, {5 * kSecond_ns, 5 * kSecond_ns + 100})});
  check_joined(near);
  const TraceJob other = numbered({trace_of(0, {0, 100}), trace_of(1, {5 * kSecond_ns})});
  EXPECT_ERROR(ErrorCode::kBadInput, "rank1.json: it begins 5.000 s after rank0.json ends", check_joined(other));
  EXPECT_ERROR(ErrorCode::kBadInput, "rank1.json: it begins 100.000 s after rank0.json ends",
               numbered({trace_of(0, {0, 100}), trace_of(1, {100 * kSecond_ns, 100 * kSecond_ns + 100})}));
  check_joined(numbered({trace_of(0, {0, 100}), trace_of(1, {50})}));  // at the same time
}

RankTrace trace_with_streams(const std::vector<std::pair<const char*, std::int64_t>>& kernels, std::string_view group = {}) {
  RankBuilder builder("rank0.json");
  std::int64_t at = 0;
  for (const auto& [name, stream] : kernels) {
    TraceEvent event;
    event.name = name;
    event.begin_ns = at += 100;
    event.end_ns = at + 10;
    event.stream = stream;
    event.collective.group = group;
    builder.add_kernel(event);
  }
  return builder.finish();
}

TEST(RankBuilder, SeveralStreamsAreSeveralCommunicatorsWhereNoGroupIsStated) {
  constexpr const char* kReduce = "ncclKernel_AllReduce_RING_LL_Sum_float";
  constexpr const char* kSend = "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t";
  EXPECT_EQ(trace_with_streams({{kReduce, 20}, {kReduce, 21}}).collectives_of_unknown_group, 2u);
  EXPECT_EQ(trace_with_streams({{kReduce, 20}, {kReduce, 20}}).collectives_of_unknown_group, 0u);
  EXPECT_EQ(trace_with_streams({{kReduce, 20}, {kSend, 21}}).collectives_of_unknown_group, 0u) << "sends are not joined anyway";
  EXPECT_EQ(trace_with_streams({{kReduce, 20}, {kReduce, 21}}, "0").collectives_of_unknown_group, 0u);
}

TEST(NumberCollectives, OfUnknownGroupsNoneIsJoined) {
  RankTrace several = trace_of(0, {0, 100}), one = trace_of(1, {0, 100});
  for (RankTrace* const trace : {&several, &one}) {
    for (TraceCollective& collective : trace->collectives) collective.group.clear();
  }
  several.collectives_of_unknown_group = 1;
  several.collectives[0].is_group_known = false;
  const TraceJob job = numbered({several, one});
  for (const RankTrace& trace : job.traces) EXPECT_EQ(keys_of(trace), (std::vector<std::uint64_t>{0, 0}));
}

}  // namespace
}  // namespace ddbench::imports
