#include "analyzer/import/trace/cpu_calls.h"

#include <gtest/gtest.h>

#include "analyzer/import/trace/collective_names.h"
#include "analyzer/import/trace/trace_info.h"

namespace ddbench::imports {
namespace {

CpuCall call(CallKind kind, std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t id = 0, std::uint16_t thread = 0) {
  return {.begin_ns = begin_ns, .end_ns = end_ns, .id = id, .name_id = 0, .thread = thread, .kind = kind};
}

TEST(CallTree, LaunchesHaveThePassOfTheInnermostCallAroundThem) {
  std::vector<CpuCall> calls = {
      call(CallKind::kForward, 0, 100),        call(CallKind::kLaunch, 10, 11, 1),
      call(CallKind::kBackward, 200, 300, 0, 1), call(CallKind::kOperator, 210, 220, 5, 1),
      call(CallKind::kLaunch, 212, 213, 2, 1), call(CallKind::kOptimizer, 400, 500),
      call(CallKind::kLaunch, 410, 411, 3),    call(CallKind::kOperator, 600, 700, 5),
      call(CallKind::kLaunch, 610, 611, 4),    call(CallKind::kOperator, 800, 900, 6),
      call(CallKind::kLaunch, 810, 811, 5)};
  const CallTree tree = build_call_tree(calls, {5}, {});
  std::vector<SpanKind> phases;
  for (const Launch& launch : tree.launches) phases.push_back(launch.phase);
  // The operator with number 5 was differentiated; what runs again in backward stays backward.
  EXPECT_EQ(phases, (std::vector{SpanKind::kForward, SpanKind::kBackward, SpanKind::kOptimizer, SpanKind::kForward,
                                 SpanKind::kCompute}));
  ASSERT_EQ(tree.operators.size(), 3U);
  EXPECT_EQ(tree.operators[0].kind, SpanKind::kForward);
}

TEST(CallTree, OnlyOutermostOperatorsCount) {
  std::vector<CpuCall> calls = {call(CallKind::kOperator, 10, 50), call(CallKind::kCopyOperator, 20, 30),
                                call(CallKind::kOther, 0, 100), call(CallKind::kCopyOperator, 60, 70)};
  const CallTree tree = build_call_tree(calls, {}, {0});
  ASSERT_EQ(tree.operators.size(), 2U);
  EXPECT_EQ(tree.operators[0].duration_ns(), 40);
  EXPECT_EQ(tree.operators[1].kind, SpanKind::kCopy);
  ASSERT_EQ(tree.host.size(), 1U);
  EXPECT_EQ(tree.host[0].duration_ns(), 100);
}

TEST(CallTree, WaitingForTheGpuIsNoWorkOfTheHost) {
  std::vector<CpuCall> calls = {call(CallKind::kOther, 0, 100), call(CallKind::kWait, 20, 90),
                                call(CallKind::kLaunch, 150, 160, 1), call(CallKind::kOther, 0, 100, 0, 1)};
  const CallTree tree = build_call_tree(calls, {}, {0});
  std::int64_t host_ns = 0;
  for (const Span& span : tree.host) host_ns += span.duration_ns();
  EXPECT_EQ(host_ns, 20 + 10 + 10);  // thread 1 holds neither steps nor backward
}

TEST(CollectiveNames, AreDdbenchsWords) {
  EXPECT_EQ(collective_function("_allgather_base"), "all_gather");
  EXPECT_EQ(collective_function("reduce_scatter_tensor_coalesced"), "reduce_scatter");
  EXPECT_EQ(collective_function("all_to_allv"), "all_to_all");
  EXPECT_EQ(collective_function("_reduce_oop"), "reduce");
  EXPECT_EQ(collective_function("wait"), "");
  EXPECT_EQ(bytes_of_type("c10::BFloat16"), 2U);
  EXPECT_EQ(bytes_of_type("float"), 4U);
  EXPECT_EQ(bytes_of_type("quantum"), 0U);
}

TEST(CollectiveNames, BytesOfOneRanksMessageBecomeThoseOfNcclTests) {
  for (const char* function : {"all_gather", "reduce_scatter", "all_to_all"}) {
    EXPECT_EQ(bytes_of_all_ranks(function, 1000, 8), 8000U) << function;
    EXPECT_EQ(bytes_of_all_ranks(function, 1000, 0), std::nullopt) << function;
    EXPECT_EQ(bytes_of_all_ranks(function, std::uint64_t{1} << 60, 8), std::nullopt) << function;
    EXPECT_EQ(bytes_of_all_ranks(function, std::uint64_t{1} << 62, 8), std::nullopt) << function;
  }
  for (const char* function : {"all_reduce", "broadcast", "reduce", "send"}) EXPECT_EQ(bytes_of_all_ranks(function, 1000, 0), 1000U) << function;
}

TEST(TraceInfo, ARankIsReadFromAPath) {
  EXPECT_EQ(rank_in_path("ranks/resnet_rank-3.pt.trace.json.gz"), 3);
  EXPECT_EQ(rank_in_path("rank12/trace.json"), 12);
  EXPECT_EQ(rank_in_path("rank0_of_frank.json"), 0);
  EXPECT_EQ(rank_in_path("trace.json"), std::nullopt);
  EXPECT_EQ(rank_in_path("/home/frank3/trace.json"), std::nullopt);
  EXPECT_EQ(rank_in_path("/home/frank3/rank1/trace.json"), 1);
  EXPECT_EQ(rank_in_path("rank2/frank3.json"), 2);
}

}  // namespace
}  // namespace ddbench::imports
