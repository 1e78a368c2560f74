// What the probe does about the faults of versions of CUPTI.
#include "probes/cupti/cupti_versions.h"

#include <cstddef>
#include <cstdlib>
#include <future>

#include "core/clock.h"
#include "core/program/device_span.h"
#include "cupti_life.h"
#include "hang_limit.h"
#include "probes/cupti/off_windows.h"

namespace ddbench::cuda {
namespace {

constexpr std::uint32_t kOf130 = 130001;
constexpr std::uint32_t kOf131Update1 = 130101;

class CuptiVersions : public CuptiLife {
 protected:
  /// A graph is launched, then probes are off and on again, and the graph is launched again.
  void launch_toggle_launch(std::uint32_t version, bool& was_off, ProbeCounters& counters) {
    cupti::be_version(version);
    CuptiProbe probe(recorder_);
    ASSERT_TRUE(probe.follow_capture(true));
    probe.push({SpanKind::kBackward, kNoStep, kNoBucket, 0, 0});
    cupti::create_node(1);
    probe.pop();
    cupti::clone_node(1, 101);
    ASSERT_TRUE(probe.follow_capture(false));
    for (std::uint32_t step = 5; step < 8; ++step) {
      if (step != 5) {
        probe.set_enabled(step == 7);
        recorder_.set_enabled(step == 7);
      }
      if (step == 6) was_off = cupti::enabled_kinds().empty();
      const ScopedRange launch(&probe, {SpanKind::kCompute, step, kNoBucket, 0, step});
      const auto at = static_cast<std::uint64_t>(now_ns());
      cupti::record(call(step, at, at + 10));
      cupti::record(cupti::Records().add(kernel("gradient", step, at, at + 30, 101)));
    }
    counters = probe.stop();
  }
};

TEST(CuptiVersionTable, SaysWhatHolds) {
  EXPECT_FALSE(takes_a_refusal(26));
  EXPECT_TRUE(takes_a_refusal(27));
  EXPECT_FALSE(may_begin_again(28));
  EXPECT_FALSE(may_begin_again(130100));
  EXPECT_TRUE(may_begin_again(130101));
  EXPECT_FALSE(has_newer_records(kOf130, kOf130));
  EXPECT_FALSE(has_newer_records(28, kOf130));
  EXPECT_TRUE(has_newer_records(130200, kOf130));
  EXPECT_TRUE(has_newer_records(130300, 130200));
}

/// New members of records of kernels are appended: those that are read lie where they have been for six
/// versions.
template <typename Older, typename Newer>
constexpr bool lie_alike() {
  return offsetof(Older, start) == offsetof(Newer, start) && offsetof(Older, end) == offsetof(Newer, end) &&
         offsetof(Older, deviceId) == offsetof(Newer, deviceId) &&
         offsetof(Older, correlationId) == offsetof(Newer, correlationId) &&
         offsetof(Older, name) == offsetof(Newer, name) &&
         offsetof(Older, graphNodeId) == offsetof(Newer, graphNodeId) && sizeof(Older) <= sizeof(Newer);
}
static_assert(lie_alike<CUpti_ActivityKernel5, CUpti_ActivityKernel9>() &&
              lie_alike<CUpti_ActivityKernel9, KernelRecord>());

TEST(OffWindowsOf, KeepOutWhatBeganInThem) {
  OffWindows windows;
  EXPECT_FALSE(windows.contain(5));
  windows.end(1);  // none has begun
  windows.begin(10);
  EXPECT_TRUE(windows.contain(1'000'000)) << "it lasts";
  windows.end(20);
  EXPECT_FALSE(windows.contain(9));
  EXPECT_TRUE(windows.contain(10));
  EXPECT_FALSE(windows.contain(20));
  for (std::int64_t at = 100; at < 100'000; at += 20) {
    windows.begin(at);
    windows.end(at + 10);
  }
  EXPECT_FALSE(windows.contain(15)) << "long ago";
  EXPECT_TRUE(windows.contain(99'985));
  EXPECT_EQ(windows.count(), 1u + 4995u);
}

TEST_F(CuptiVersions, Before131Update1WindowsAreFilteredOnceAGraphWasCaptured) {
  bool was_off = false;
  ProbeCounters counters;
  launch_toggle_launch(kOf130, was_off, counters);
  EXPECT_FALSE(was_off) << "it would mix up the launches";
  EXPECT_EQ(counters.without_range, 0u);
  const RecordedSpans read = recorded();
  std::vector<Span> gradients;
  for (const auto& [name, span] : read.spans) {
    if (name == "gradient") gradients.push_back(span);
  }
  ASSERT_EQ(gradients.size(), 2u) << "none of the step in which the probes were off";
  EXPECT_EQ(gradients[0].step, 5u);
  EXPECT_EQ(gradients[1].step, 7u);
  for (const Span& span : gradients) EXPECT_EQ(span.kind, SpanKind::kBackward);
  EXPECT_EQ(read.scalars.at("cupti.filtered_windows"), 1);
  EXPECT_EQ(read.scalars.at("cupti.without_range"), 0);
}

TEST_F(CuptiVersions, Since131Update1NothingIsRecordedInAWindow) {
  bool was_off = false;
  ProbeCounters counters;
  launch_toggle_launch(kOf131Update1, was_off, counters);
  EXPECT_TRUE(was_off);
  EXPECT_EQ(counters.without_range, 0u);
  const RecordedSpans read = recorded();
  EXPECT_FALSE(read.scalars.contains("cupti.filtered_windows"));
}

TEST_F(CuptiVersions, WithoutGraphsOldVersionsAreTurnedOff) {
  cupti::be_version(kOf130);
  CuptiProbe probe(recorder_);
  probe.set_enabled(false);
  EXPECT_TRUE(cupti::enabled_kinds().empty());
  probe.set_enabled(true);
  EXPECT_FALSE(cupti::enabled_kinds().empty());
}

TEST_F(CuptiVersions, OneThatCrashesWhenABufferIsRefusedGetsOneToDiscard) {
  cupti::be_version(26);
  CuptiProbe probe(recorder_);
  cupti::fail("cuptiActivityFlushAll", CUPTI_ERROR_UNKNOWN);  // none comes back by itself
  for (std::uint64_t held = 0; held < 64; ++held) {
    EXPECT_TRUE(cupti::record(cupti::Records().add(kernel("kept", 0, 10 + held, 20 + held))));
  }
  for (std::uint64_t more = 0; more < 3; ++more) {
    EXPECT_TRUE(
        cupti::record(cupti::Records().add(kernel("discarded", 0, 1, 2)).add(kernel("discarded", 0, 3, 4))));
  }
  cupti::fail("cuptiActivityFlushAll", CUPTI_SUCCESS);
  const ProbeCounters counters = probe.stop();
  EXPECT_EQ(counters.spans, 64u);
  EXPECT_EQ(counters.dropped_records, 6u);
  EXPECT_EQ(counters.refused_buffers, 3u);
}

TEST_F(CuptiVersions, RecordsThatAreNewerThanTheBuildAreReported) {
  const auto reported = [this](std::uint32_t version, const char* spool) {
    cupti::reset();
    cupti::be_version(version);
    host::Recorder recorder({directory_.path() / spool, 1u << 12, 0, "test"});
    CuptiProbe(recorder).stop();
    recorder.stop();
    return read_spans(directory_.path() / spool).scalars;
  };
  EXPECT_FALSE(reported(CUPTI_API_VERSION, "same").contains("cupti.newer_records"));
  EXPECT_EQ(reported(990300, "newer").at("cupti.newer_records"), 990300);
}

TEST_F(CuptiVersions, CuptiIsAskedForNamesWhileNoLockIsHeld) {
  CuptiProbe probe(recorder_);
  int asked = 0;
  cupti::when_asked_for_a_name([&] {
    if (asked++ > 0) return;
    auto other = std::async(std::launch::async, [] { deliver_kernel("beside", 10, 20); });
    EXPECT_EQ(other.wait_for(test::kHangs), std::future_status::ready) << "a dead lock";
  });
  EXPECT_TRUE(cupti::deliver(call(1, 10, 20)));
  EXPECT_TRUE(cupti::deliver(call(2, 30, 40)));
  EXPECT_EQ(asked, 1) << "once for each function";
  probe.stop();
  const RecordedSpans read = recorded();
  EXPECT_EQ(read.spans.size(), 3u);
  EXPECT_EQ(read["beside"].begin_ns, 10);
}

TEST_F(CuptiVersions, WhoHoldsCuptiIsNamed) {
  cupti::be_held_by("CUPTI for PyTorch");
  const CuptiProbe probe(recorder_);
  EXPECT_EQ(probe.unavailable(), "another tool (CUPTI for PyTorch) holds CUPTI");
  cupti::reset();
}

TEST_F(CuptiVersions, AGraphThatIsExpectedIsNotMixedUpByAWindowBeforeItsCapture) {
  cupti::be_version(kOf130);
  CuptiProbe probe(recorder_);
  probe.expect_graphs();
  probe.set_enabled(false);  // the first step of a run that goes on
  EXPECT_FALSE(cupti::enabled_kinds().empty());
  probe.set_enabled(true);
  EXPECT_TRUE(probe.follow_capture(true));
  EXPECT_TRUE(probe.follow_capture(false));
}

TEST_F(CuptiVersions, WhatCannotBeToldApartIsNotCaptured) {
  for (const std::uint32_t version : {kOf130, kOf131Update1}) {
    cupti::reset();
    cupti::be_version(version);
    CuptiProbe probe(recorder_);
    probe.set_enabled(false);
    probe.set_enabled(true);
    EXPECT_EQ(probe.follow_capture(true), version == kOf131Update1);
    probe.follow_capture(false);
  }
}

TEST_F(CuptiVersions, ASecondSubscriberRecordsBesideTheFirstWhereCuptiAllowsIt) {
  cupti::be_shared_with("CUPTI for PyTorch");
  std::int64_t before_ns = 0;
  std::int64_t after_ns = 0;
  {
    CuptiProbe probe(recorder_);
    ASSERT_EQ(probe.unavailable(), "");
    EXPECT_TRUE(cupti::records_call(CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000));
    EXPECT_FALSE(cupti::records_call(CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020));
    probe.push({SpanKind::kBackward, 3, kNoBucket, 0, 0});
    before_ns = now_ns();
    const std::uint64_t at = cupti::shared_time();
    after_ns = now_ns();
    cupti::deliver(call(1, at, at + 10));
    cupti::deliver(cupti::Records().add(kernel("gradient", 1, at, at + 1'000)));
    cupti::drop(2);
    cupti::deliver(call(2, at, at + 10));
    probe.pop();
    EXPECT_EQ(probe.stop().dropped_records, 2u);
  }
  EXPECT_EQ(cupti::calls("cuptiActivityRegisterTimestampCallback"), 0u) << "it would set the clock of both";
  const Span gradient = recorded()["gradient"];
  EXPECT_EQ(gradient.kind, SpanKind::kBackward);
  EXPECT_EQ(gradient.duration_ns(), 1'000);
  constexpr std::int64_t kUncertain_ns = 50'000'000;  // of the clocks' comparison on a busy machine
  EXPECT_GT(gradient.begin_ns, before_ns - kUncertain_ns);
  EXPECT_LT(gradient.begin_ns, after_ns + kUncertain_ns);
  cupti::reset();
}

TEST_F(CuptiVersions, BlackwellTimesItsKernelsItself) {
  CuptiProbe(recorder_).stop();
  EXPECT_FALSE(cupti::times_in_hardware()) << "no other GPU can";
  cupti::reset();
  cupti::be_blackwell();
  ::setenv(kHardwareEventsVariable, "0", 1);
  CuptiProbe(recorder_).stop();
  EXPECT_FALSE(cupti::times_in_hardware()) << "not wanted";
  ::unsetenv(kHardwareEventsVariable);
  cupti::be_version(130400);
  {
    CuptiProbe probe(recorder_);
    EXPECT_FALSE(cupti::times_in_hardware()) << "it may crash the program";
  }
  cupti::be_version(130401);
  CuptiProbe probe(recorder_);
  EXPECT_TRUE(cupti::times_in_hardware());
  probe.stop();
  EXPECT_FALSE(cupti::times_in_hardware()) << "the program goes on without";
  EXPECT_EQ(recorded().scalars.at("cupti.hardware_events"), 1);
}

TEST_F(CuptiVersions, GraphsAsWholesAreOneSpanEachAndTheEnginesAreLeftToItsEvents) {
  ::setenv(kGpuDetailVariable, "graph", 1);
  CuptiProbe probe(recorder_);
  ::unsetenv(kGpuDetailVariable);
  EXPECT_FALSE(probe.records_graph_nodes());
  EXPECT_TRUE(cupti::enabled_kinds().contains(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
  const auto launch = [](std::uint32_t number) {
    GraphRecord graph{};
    graph.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
    graph.deviceId = 1;
    graph.streamId = 7;
    cupti::deliver(call(number, 10 * number, 10 * number + 1));
    cupti::deliver(cupti::Records().add(timed(graph, number, 100 * number, 100 * number + 50)));
  };
  launch(1);
  {
    const ScopedRange range(&probe, {SpanKind::kCompute, 4, kNoBucket, 0, 0});
    launch(2);
  }
  probe.stop();
  const Span graph = recorded()["graph"];
  EXPECT_EQ(graph.begin_ns, 100);
  EXPECT_EQ(graph.kind, SpanKind::kCompute);
  EXPECT_EQ(graph.reserved, device_queue(1, 7));
}

TEST_F(CuptiVersions, EachDeviceAndStreamIsAQueueAndWaitsAreNoWork) {
  cupti::name_call(CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020, "cudaStreamSynchronize");
  CuptiProbe probe(recorder_);
  KernelRecord first = kernel("first", 1, 10, 20);
  first.deviceId = 0;
  first.streamId = 7;
  KernelRecord second = kernel("second", 2, 10, 20);
  second.deviceId = 1;
  second.streamId = 7;
  auto copy = transfer<MemcpyRecord>(CUPTI_ACTIVITY_KIND_MEMCPY, 512, 3, 30, 40);
  copy.deviceId = 1;
  copy.streamId = 9;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  cupti::deliver(cupti::Records().add(first).add(second).add(copy));
  cupti::deliver(call(4, 50, 60, CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020));
  cupti::deliver(call(5, 60, 70));
  probe.stop();
  const RecordedSpans read = recorded();
  EXPECT_EQ(read["first"].reserved, device_queue(0, 7));
  EXPECT_EQ(read["second"].reserved, device_queue(1, 7));
  EXPECT_EQ(read["memcpy_to_device"].reserved, device_queue(1, 9));
  EXPECT_TRUE(is_device_wait(read["cudaStreamSynchronize"]));
  EXPECT_FALSE(is_device_wait(read["runtime_211"]));
}

TEST_F(CuptiVersions, CopiesHaveADirectionAndThoseOfACollectiveAreCommunication) {
  CuptiProbe probe(recorder_);
  const auto copy = [](CUpti_ActivityMemcpyKind kind, std::uint32_t number) {
    auto record =
        transfer<MemcpyRecord>(CUPTI_ACTIVITY_KIND_MEMCPY, 512, number, 100 * number, 100 * number + 50);
    record.copyKind = static_cast<std::uint8_t>(kind);
    return cupti::Records().add(record);
  };
  std::uint32_t number = 0;
  const auto in = [&](const Range& range, CUpti_ActivityMemcpyKind kind) {
    const ScopedRange scope(&probe, range);
    ++number;
    cupti::deliver(call(number, 10 * number, 10 * number + 1));
    cupti::deliver(copy(kind, number));
  };
  const Range forward{SpanKind::kForward, 4, kNoBucket, 0, 0};
  const Range collective{SpanKind::kCommunication, 4, 2, 4096, 42};
  in(forward, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
  in(forward, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
  in(forward, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
  in(collective, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
  probe.stop();
  const RecordedSpans read = recorded();
  for (const char* const name : {"memcpy_to_device", "memcpy_to_host", "memcpy_on_device"}) {
    EXPECT_EQ(read[name].kind, SpanKind::kCopy) << name;
    EXPECT_EQ(read[name].lane, Lane::kDeviceCompute) << name;
  }
  const Span peer = read["memcpy_peer"];
  EXPECT_EQ(peer.kind, SpanKind::kCommunication);
  EXPECT_EQ(peer.lane, Lane::kDeviceCommunication);
  EXPECT_EQ(peer.correlation, 42u);
  EXPECT_EQ(peer.bucket, 2);
  EXPECT_EQ(peer.bytes, 512u) << "of several copies each has its own";
}

TEST_F(CuptiVersions, SymmetricKernelsAreCommunication) {
  CuptiProbe probe(recorder_);
  EXPECT_TRUE(deliver_kernel("_Z32ncclSymkDevKernel_AllReduce_AGxLL_R20ncclSymkDevWorkArgs", 10, 20));
  EXPECT_TRUE(probe.stop().unknown_kernels.empty());
  EXPECT_EQ(recorded()["all_reduce"].lane, Lane::kDeviceCommunication);
}

}  // namespace
}  // namespace ddbench::cuda
