#include "analyzer/attribution/nccl_join.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analyzer/attribution/nccl_waits.h"
#include "analyzer/program/program_steps.h"

namespace ddbench::analyzer {
namespace {

class NcclJoinTest : public ::testing::Test {
 protected:
  std::uint32_t id(const std::string& name) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found != names_.end()) return static_cast<std::uint32_t>(found - names_.begin());
    names_.push_back(name);
    return static_cast<std::uint32_t>(names_.size() - 1);
  }
  Span kernel(const std::string& name, std::int64_t begin, std::int64_t end, std::uint64_t key = 0) {
    Span span;
    span.kind = SpanKind::kCommunication;
    span.lane = Lane::kDeviceCommunication;
    span.name_id = id(name);
    span.begin_ns = begin;
    span.end_ns = end;
    span.correlation = key;
    return span;
  }
  Span event(const std::string& function, std::int64_t begin, std::int64_t end, std::uint64_t sequence) {
    Span span = kernel(nccl_event_name({function, "RING", "LL", 2, "socket"}), begin, end);
    span.kind = SpanKind::kNcclEvent;
    span.bytes = 1000 * (sequence + 1);
    span.correlation = collective_key(5, nccl_sequence(nccl_function_number(function), sequence));
    return span;
  }
  NcclJoin join() { return join_nccl_events(spans_, names_); }

  std::vector<Span> spans_;
  std::vector<std::string> names_;
};

TEST_F(NcclJoinTest, AKernelGetsTheKeyAndBytesOfTheEventBesideIt) {
  spans_ = {kernel("all_reduce", 1'000, 9'000), kernel("all_reduce", 10'000, 19'000),
            event("all_reduce", 1'500, 9'700, 0), event("all_reduce", 10'400, 19'600, 1)};
  const NcclJoin result = join();
  EXPECT_EQ(result.joined, 2u);
  ASSERT_EQ(spans_.size(), 2u);
  EXPECT_EQ(spans_[0].bytes, 1'000u);
  EXPECT_EQ(spans_[1].bytes, 2'000u);
  EXPECT_NE(spans_[0].correlation, spans_[1].correlation);
  EXPECT_EQ(spans_[0].begin_ns, 1'000) << "CUPTI's times are better";
  EXPECT_EQ(spans_[0].end_ns, 9'000);
  EXPECT_EQ(names_[spans_[0].name_id], "all_reduce");
}

TEST_F(NcclJoinTest, WhatTheGpuSaysOfTheWaitForTheLastRankIsPlacedInTheKernelAndCanBeStoredAgain) {
  const auto wait = [&](std::uint64_t sequence, std::int64_t begin, std::int64_t ns) {
    Span span = event("all_reduce", begin, begin + ns, sequence);
    span.name_id = id(std::string(kNcclInitialSync));
    return span;
  };
  // The events' clock is 500 ns late; the second one waited longer than its kernel took.
  spans_ = {kernel("all_reduce", 1'000, 9'000), kernel("all_reduce", 10'000, 19'000),
            event("all_reduce", 1'500, 9'500, 0), event("all_reduce", 10'500, 19'500, 1),
            wait(0, 1'500, 3'000),                wait(1, 10'500, 9'500)};
  NcclJoin result = join();
  EXPECT_EQ(result.joined, 2u) << "a wait is no collective";
  ASSERT_EQ(spans_.size(), 2u);
  EXPECT_EQ(result.all_there_ns, (AllThere{{spans_[0].correlation, 4'000}, {spans_[1].correlation, 19'000}}));
  const AllThere before = result.all_there_ns;
  keep_nccl_waits(before, spans_, names_);
  EXPECT_EQ(spans_.size(), 4u);
  result = join();
  EXPECT_EQ(spans_.size(), 2u);
  EXPECT_EQ(result.all_there_ns, before);
}

TEST_F(NcclJoinTest, FunctionsThatRunBesideEachOtherAreDistinguished) {
  spans_ = {event("all_gather", 900, 2'100, 0), event("reduce_scatter", 1'100, 2'300, 0),
            kernel("reduce_scatter", 1'000, 2'000), kernel("all_gather", 1'000, 2'000)};
  join();
  ASSERT_EQ(spans_.size(), 2u);
  for (const Span& span : spans_) {
    const auto number = static_cast<std::uint64_t>(nccl_function_number(names_[span.name_id]));
    EXPECT_EQ((span.correlation >> 44) & 0xF, number);
  }
}

TEST_F(NcclJoinTest, WithoutKernelsTheEnginesOwnSpansStayAndLearnHowTheyWereDone) {
  Span call = kernel("all_reduce", 1'000, 9'000, collective_key(1, 7));
  call.lane = Lane::kCommunication;
  call.bytes = 4096;
  Span its_event = event("all_reduce", 2'000, 8'000, 0);
  its_event.correlation = call.correlation;
  its_event.bytes = 4096;
  Span of_a_graph = call;  // whose collectives have no events
  of_a_graph.correlation = collective_key(1, 8);
  of_a_graph.begin_ns += 10'000;
  of_a_graph.end_ns += 10'000;
  spans_ = {its_event, call, of_a_graph};
  const NcclJoin result = join();
  EXPECT_EQ(result.joined, 1u);
  EXPECT_EQ(result.events_without_kernel, 0u);
  EXPECT_EQ(result.kernels_without_event, 0u);
  EXPECT_TRUE(result.unknown_kernels.empty());
  EXPECT_EQ(spans_, (std::vector<Span>{call, of_a_graph}));
  EXPECT_EQ(nccl_algorithm_of(nccl_facts(result), "all_reduce", 4096), "RING LL, 2 channels, socket");
}

TEST_F(NcclJoinTest, AnotherLibrarysCallIsNotTheEventsThatRanBesideIt) {
  Span of_gloo = kernel("all_reduce", 1'000, 9'000, collective_key(1, 7));
  of_gloo.lane = Lane::kCommunication;
  spans_ = {of_gloo, event("all_reduce", 1'000, 9'000, 0)};
  EXPECT_EQ(join().joined, 0u);
  ASSERT_EQ(spans_.size(), 2u) << "the event is a collective of its own: nobody recorded kernels";
  EXPECT_EQ(spans_[0], of_gloo);
  EXPECT_EQ(spans_[1].kind, SpanKind::kCommunication);
  EXPECT_EQ(spans_[1].lane, Lane::kDeviceCommunication);
}

TEST_F(NcclJoinTest, TheEnginesKeyWinsAndAGenericKernelGetsAName) {
  const Span engines = kernel("generic", 1'000, 2'000, collective_key(1, 7));
  Span its_event = event("all_reduce", 50'000'000, 50'001'000, 0);  // far off in time
  its_event.correlation = engines.correlation;
  spans_ = {engines, its_event};
  EXPECT_EQ(join().joined, 1u);
  ASSERT_EQ(spans_.size(), 1u);
  EXPECT_EQ(spans_[0].correlation, collective_key(1, 7));
  EXPECT_EQ(spans_[0].begin_ns, 1'000);
  EXPECT_EQ(names_[spans_[0].name_id], "all_reduce");
}

TEST_F(NcclJoinTest, WhatTheEngineHasNamedStaysOneSpanOfThatName) {
  const std::uint64_t key = collective_key(5, 70);
  spans_ = {kernel("push", 1'000, 9'000, key), kernel("pull", 10'000, 19'000, key + 1)};
  spans_[0].bytes = 4'096;
  for (const std::int64_t at : {1'500, 1'600}) {
    Span part = event("send_recv", at, 8'000, 0);
    part.correlation = key;
    spans_.push_back(part);
  }
  const NcclJoin result = join();
  ASSERT_EQ(spans_.size(), 2u);
  EXPECT_EQ(names_[spans_[0].name_id], "push");
  EXPECT_EQ(spans_[0].bytes, 4'096u);
  EXPECT_EQ(spans_[0].begin_ns, 1'000);
  EXPECT_EQ(names_[spans_[1].name_id], "pull");
  EXPECT_EQ(result.joined, 2u);
  EXPECT_EQ(result.kernels_without_event, 0u);
  EXPECT_EQ(result.algorithms.count("push 4096 B"), 1u);
}

TEST_F(NcclJoinTest, OfKernelsWithOneKeyTheOneOfTheFunctionIsTheEvents) {
  const std::uint64_t key = collective_key(1, 7);  // a parameter server's push and pull
  spans_ = {kernel("reduce", 1'000, 2'000, key), kernel("broadcast", 3'000, 4'000, key),
            event("broadcast", 900, 900, 0), event("reduce", 3'000, 4'000, 0)};
  spans_[2].correlation = spans_[3].correlation = key;
  spans_[3].bytes = 77;
  const NcclJoin result = join();
  EXPECT_EQ(result.joined, 2u);
  ASSERT_EQ(spans_.size(), 2u);
  EXPECT_EQ(names_[spans_[0].name_id], "reduce");
  EXPECT_EQ(spans_[0].bytes, 77u);
  EXPECT_EQ(names_[spans_[1].name_id], "broadcast");
  EXPECT_EQ(spans_[1].begin_ns, 3'000);
}

TEST_F(NcclJoinTest, KernelsOfAReplayedGraphHaveTheEnginesKeyAndNoEvents) {
  spans_ = {kernel("all_reduce", 1'000, 2'000),
            kernel("all_reduce", 90'000'000, 90'002'000, collective_key(1, 8)),
            event("all_reduce", 1'000, 2'000, 0)};
  EXPECT_EQ(join().kernels_without_event, 0u);
  EXPECT_EQ(spans_.size(), 2u);
}

TEST_F(NcclJoinTest, EventsThatOnlySayWhenTheyWereEnqueuedAreOfTheNextKernels) {
  constexpr std::int64_t kMs = 1'000'000;
  spans_ = {kernel("all_reduce", 5 * kMs, 6 * kMs),   kernel("all_gather", 6 * kMs, 7 * kMs),
            kernel("all_reduce", 8 * kMs, 9 * kMs),   kernel("all_reduce", 11 * kMs, 12 * kMs),
            event("all_reduce", 1 * kMs, 1 * kMs, 0), event("all_reduce", 2 * kMs, 2 * kMs, 1),
            event("all_gather", 3 * kMs, 3 * kMs, 2), event("all_reduce", 8 * kMs, 9 * kMs, 3)};
  const NcclJoin result = join();
  EXPECT_EQ(result.joined, 4u);
  ASSERT_EQ(spans_.size(), 4u);
  EXPECT_EQ(spans_[0].bytes, 1'000u);
  EXPECT_EQ(spans_[0].end_ns, 6 * kMs);
  EXPECT_EQ(spans_[1].bytes, 3'000u);
  EXPECT_EQ(spans_[2].bytes, 4'000u) << "whose event says when it ran";
  EXPECT_EQ(spans_[3].bytes, 2'000u);
}

TEST_F(NcclJoinTest, PartsOfAGroupOfWhichNoTimesAreKnownAreAllOfIt) {
  const std::uint64_t key = collective_key(1, 7);
  spans_ = {kernel("generic", 1'000, 9'000, key), event("all_reduce", 900, 900, 0),
            event("all_reduce", 900, 900, 1)};
  spans_[1].correlation = spans_[2].correlation = key;
  EXPECT_EQ(join().joined, 2u);
  ASSERT_EQ(spans_.size(), 2u);
  for (const Span& span : spans_) EXPECT_EQ(span.duration_ns(), 8'000);
}

TEST_F(NcclJoinTest, EventsThatWereEnqueuedWithOneLaunchHaveOneKernel) {
  constexpr std::int64_t kMs = 1'000'000;
  spans_ = {kernel("all_gather", 5 * kMs, 6 * kMs), kernel("all_gather", 8 * kMs, 9 * kMs),
            event("all_gather", 1 * kMs, 1 * kMs, 0), event("all_gather", 1 * kMs, 1 * kMs, 1),
            event("all_gather", 7 * kMs, 7 * kMs, 2)};
  EXPECT_EQ(join().joined, 3u);
  ASSERT_EQ(spans_.size(), 3u);
  EXPECT_EQ(spans_[1].begin_ns, 8 * kMs) << "the next launch's";
  EXPECT_EQ(spans_[1].bytes, 3'000u);
  EXPECT_EQ(spans_[0].begin_ns, 5 * kMs);
  EXPECT_EQ(spans_[2].begin_ns, 5 * kMs);
  EXPECT_EQ(spans_[0].bytes + spans_[2].bytes, 3'000u);
}

TEST_F(NcclJoinTest, AGroupsKernelBecomesOneSpanForEachCollective) {
  spans_ = {kernel("generic", 1'000, 9'000), event("all_reduce", 900, 4'000, 0),
            event("all_reduce", 4'000, 9'500, 1)};
  EXPECT_EQ(join().joined, 2u);
  ASSERT_EQ(spans_.size(), 2u);
  EXPECT_EQ(spans_[0].begin_ns, 1'000);
  EXPECT_EQ(spans_[0].end_ns, 4'000);
  EXPECT_EQ(spans_[1].end_ns, 9'000);
}

TEST_F(NcclJoinTest, WithoutKernelsTheEventsAreTheCommunication) {
  spans_ = {event("all_reduce", 100, 200, 0), event("broadcast", 300, 400, 0)};
  const NcclJoin result = join();
  EXPECT_EQ(result.events_without_kernel, 0u) << "nobody recorded kernels";
  EXPECT_EQ(result.events_alone, 2u);
  ASSERT_EQ(spans_.size(), 2u);
  EXPECT_EQ(spans_[0].kind, SpanKind::kCommunication);
  EXPECT_EQ(names_[spans_[1].name_id], "broadcast");
}

TEST_F(NcclJoinTest, WhatHasNoCounterpartIsCounted) {
  spans_ = {kernel("all_reduce", 1'000, 2'000), event("all_reduce", 900'000'000, 900'001'000, 3)};
  const NcclJoin result = join();
  EXPECT_EQ(result.joined, 0u);
  EXPECT_EQ(result.events_without_kernel, 1u);
  EXPECT_EQ(result.kernels_without_event, 1u);
  EXPECT_EQ(spans_.size(), 2u);
}

TEST_F(NcclJoinTest, WarmUpReportsAlgorithmsAndIsNotCounted) {
  for (std::uint32_t step = 0; step < 5; ++step) {
    const auto begin = static_cast<std::int64_t>(step) * 10'000;
    spans_.push_back(kernel("all_reduce", begin, begin + 1'000, collective_key(1, step + 1)));
    spans_.push_back(event("all_reduce", begin, begin + 1'000, step));
    spans_.back().correlation = collective_key(1, step + 1);
    for (std::size_t i = spans_.size() - 2; i < spans_.size(); ++i) spans_[i].step = step;
  }
  const NcclJoin result = join_nccl_events(spans_, names_, 0, 3, 2);
  EXPECT_EQ(result.joined, 2u) << "steps 2 and 3";
  EXPECT_EQ(result.algorithms.size(), 4u) << "sizes of steps 0 to 3";
  EXPECT_EQ(nccl_facts(result).at("nccl.joined"), "2");
}

TEST_F(NcclJoinTest, UnknownKernelsOfNcclAreListed) {
  spans_ = {kernel("ncclDevKernel_Frobnicate", 0, 10), kernel("all_reduce", 20, 30)};
  const auto facts = nccl_facts(join());
  EXPECT_EQ(facts.at("nccl.unknown_kernels"), "ncclDevKernel_Frobnicate");
}

TEST_F(NcclJoinTest, WithoutEventsKernelsAreNumberedInTheirOrder) {
  spans_ = {kernel("all_reduce", 300, 400), kernel("all_reduce", 100, 200), kernel("send_recv", 50, 60)};
  EXPECT_EQ(join().numbered, 2u);
  EXPECT_EQ(spans_[0].correlation, collective_key(0, 2));
  EXPECT_EQ(spans_[1].correlation, collective_key(0, 1));
  EXPECT_EQ(spans_[2].correlation, 0u);
}

TEST_F(NcclJoinTest, TheAlgorithmAndTheTransportAreFacts) {
  spans_ = {event("all_reduce", 100, 200, 0), event("all_reduce", 300, 400, 0)};
  const auto facts = nccl_facts(join());
  EXPECT_EQ(facts.at("nccl.all_reduce 1000 B"), "RING LL, 2 channels, socket");
  EXPECT_EQ(facts.at("nccl.transport"), "socket");
}

TEST_F(NcclJoinTest, OtherSpansStayAsTheyAre) {
  Span gemm = kernel("gemm", 0, 10);
  gemm.kind = SpanKind::kCompute;
  gemm.lane = Lane::kDeviceCompute;
  Span gloo = kernel("all_reduce", 0, 10, collective_key(1, 1));
  gloo.lane = Lane::kCommunication;
  spans_ = {gemm, gloo};
  const std::vector<Span> before = spans_;
  join();
  EXPECT_EQ(spans_, before);
}

/// A program of two ranks with all-gathers and reduce-scatters as FSDP makes them, recorded as on a GPU.
TEST(NcclJoin, StepsOfAProgramAreFoundFromItsKernels) {
  std::vector<ProgramRank> ranks(2);
  std::mt19937 random(7);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    auto& [spans, names] = ranks[rank];
    names = {"all_gather", "reduce_scatter", "gemm",
             nccl_event_name({"all_gather", "RING", "LL", 1, "direct"}),
             nccl_event_name({"reduce_scatter", "RING", "LL", 1, "direct"})};
    std::int64_t at = 1'000'000'000;
    std::uint64_t sequence[2] = {0, 0};
    for (int step = 0; step < 20; ++step) {
      for (const int function : {0, 0, 1, 0, 1, 1}) {
        Span span;
        span.begin_ns = at;
        span.end_ns = at + 200'000;
        span.kind = SpanKind::kCommunication;
        span.lane = Lane::kDeviceCommunication;
        span.name_id = static_cast<std::uint32_t>(function);
        spans.push_back(span);
        span.kind = SpanKind::kNcclEvent;
        span.begin_ns += static_cast<std::int64_t>(random() % 20'000);
        span.end_ns += static_cast<std::int64_t>(random() % 20'000);
        span.name_id = static_cast<std::uint32_t>(3 + function);
        span.bytes = function == 0 ? 4'000'000 : 8'000'000;
        const int number = nccl_function_number(function == 0 ? "all_gather" : "reduce_scatter");
        span.correlation = collective_key(9, nccl_sequence(number, sequence[function]++));
        spans.push_back(span);
        at += 1'000'000;
      }
    }
    const NcclJoin result = join_nccl_events(spans, names);
    EXPECT_EQ(result.joined, 120u);
    EXPECT_EQ(result.kernels_without_event, 0u);
  }
  const ProgramSteps steps = assign_program_steps(ranks, 0);
  EXPECT_EQ(steps.source, StepSource::kPattern);
  EXPECT_GE(steps.steps, 18u);
}

}  // namespace
}  // namespace ddbench::analyzer
