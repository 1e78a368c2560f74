// Records of CUPTI, from its buffers into the spool.
#include "cupti_life.h"

namespace ddbench::cuda {
namespace {

constexpr const char* kAllReduce =
    "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE";

using CuptiRecords = CuptiLife;

TEST_F(CuptiRecords, BuffersInAnyOrderGiveSpansOfTheRangesOfTheirCalls) {
  for (const bool device_first : {false, true}) {
    SCOPED_TRACE(device_first);
    cupti::reset();
    const testing::TempDirectory directory;
    host::Recorder recorder({directory.path() / "spool", 1u << 12, 0, "test"});
    CuptiProbe probe(recorder);
    ASSERT_EQ(probe.unavailable(), "");
    std::vector<cupti::Records> calls;
    const auto in = [&](const Range& range, std::uint32_t number, CUpti_ActivityKind kind,
                        CUpti_CallbackId function) {
      const ScopedRange scope(&probe, range);
      calls.push_back(call(number, 1'000 * number, 1'000 * number + 100, kind, function));
    };
    const auto runtime = CUPTI_ACTIVITY_KIND_RUNTIME;
    const auto driver = CUPTI_ACTIVITY_KIND_DRIVER;
    in({SpanKind::kForward, 7, kNoBucket, 0, 0}, 1, runtime, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
    in({SpanKind::kCommunication, 7, 3, 4096, 42}, 2, driver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
    in({SpanKind::kCopy, 8, 1, 0, 0}, 3, runtime, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020);
    in({SpanKind::kCopy, 8, 2, 0, 0}, 4, driver, CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync);
    in({SpanKind::kOptimizer, 9, kNoBucket, 0, 0}, 5, driver, CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async);
    auto to_device = transfer<MemcpyRecord>(CUPTI_ACTIVITY_KIND_MEMCPY, 512, 3, 26'000, 26'500);
    to_device.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    cupti::Records device;
    device.add(kernel("_Z4gemmPf", 1, 20'000, 21'000))
        .add(kernel(kAllReduce, 2, 22'000, 25'000))
        .add(to_device)
        .add(transfer<PeerCopyRecord>(CUPTI_ACTIVITY_KIND_MEMCPY2, 1024, 4, 27'000, 27'250))
        .add(transfer<MemsetRecord>(CUPTI_ACTIVITY_KIND_MEMSET, 256, 5, 28'000, 28'125));
    OverheadRecord overhead{};
    overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
    overhead.start = 100;
    overhead.end = 350;
    if (device_first) {
      EXPECT_TRUE(cupti::deliver(device.add(overhead)));
    }
    for (auto at = calls.rbegin(); at != calls.rend(); ++at) EXPECT_TRUE(cupti::deliver(*at));
    if (!device_first) {
      EXPECT_TRUE(cupti::deliver(device.add(overhead)));
    }
    const ProbeCounters counters = probe.stop();
    recorder.stop();
    EXPECT_EQ(counters.records, 5u * 2 + 6);
    EXPECT_EQ(counters.spans, 10u);
    EXPECT_EQ(counters.without_range, 0u);
    const RecordedSpans read = read_spans(directory.path() / "spool");
    ASSERT_EQ(read.spans.size(), 10u);
    const auto expect = [&](const char* name, Lane lane, SpanKind kind, std::uint32_t step, int bucket,
                            std::uint64_t bytes, std::uint64_t key, std::int64_t begin_ns,
                            std::int64_t end_ns) {
      const Span span = read[name];
      EXPECT_EQ(span.lane, lane) << name;
      EXPECT_EQ(span.kind, kind) << name;
      EXPECT_EQ(span.step, step) << name;
      EXPECT_EQ(span.bucket, bucket) << name;
      EXPECT_EQ(span.bytes, bytes) << name;
      EXPECT_EQ(span.correlation, key) << name;
      EXPECT_EQ(span.begin_ns, begin_ns) << name;
      EXPECT_EQ(span.end_ns, end_ns) << name;
    };
    const Lane compute = Lane::kDeviceCompute;
    expect("gemm(float*)", compute, SpanKind::kForward, 7, kNoBucket, 0, 0, 20'000, 21'000);
    expect("all_reduce", Lane::kDeviceCommunication, SpanKind::kCommunication, 7, 3, 4096, 42, 22'000,
           25'000);
    expect("memcpy_to_device", compute, SpanKind::kCopy, 8, 1, 512, 0, 26'000, 26'500);
    expect("memcpy_peer", compute, SpanKind::kCopy, 8, 2, 1024, 0, 27'000, 27'250);
    expect("memset", compute, SpanKind::kCopy, 9, kNoBucket, 256, 0, 28'000, 28'125);
    expect(("runtime_" + std::to_string(CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020)).c_str(), Lane::kMain,
           SpanKind::kHost, 8, kNoBucket, 0, 0, 3'000, 3'100);
    expect(("driver_" + std::to_string(CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async)).c_str(), Lane::kMain,
           SpanKind::kHost, 9, kNoBucket, 0, 0, 5'000, 5'100);
    EXPECT_EQ(read.scalars.at("cupti.records"), 16);
    EXPECT_EQ(read.scalars.at("cupti.overhead_ns"), 250);
    EXPECT_EQ(read.scalars.at("cupti.without_range"), 0);
  }
}

TEST_F(CuptiRecords, WhatIsLostAndWhatHasNoTimesIsCountedAndStored) {
  CuptiProbe probe(recorder_);
  cupti::drop(3);
  EXPECT_TRUE(cupti::deliver(cupti::Records()
                                 .add(kernel("no_begin", 1, 0, 10))
                                 .add(kernel("backwards", 2, 20, 10))
                                 .add(kernel("well", 3, 10, 20))));
  cupti::drop(2);
  EXPECT_TRUE(deliver_kernel("well_too", 30, 40));
  cupti::drop(4);  // no buffer comes after it
  const ProbeCounters counters = probe.stop();
  EXPECT_EQ(counters.dropped_records, 9u);
  EXPECT_EQ(counters.invalid_times, 2u);
  const RecordedSpans read = recorded();
  EXPECT_EQ(read.spans.size(), 2u);
  EXPECT_EQ(read.scalars.at("cupti.dropped_records"), 9);
  EXPECT_EQ(read.scalars.at("cupti.invalid_times"), 2);
  EXPECT_EQ(read.scalars.at("cupti.refused_buffers"), 0);
}

TEST_F(CuptiRecords, BuffersAreBoundedAndWhatIsRefusedIsCountedAndStored) {
  CuptiProbe probe(recorder_);
  cupti::fail("cuptiActivityFlushAll", CUPTI_ERROR_UNKNOWN);  // none comes back by itself
  std::size_t held = 0;
  while (held < 1'000 && cupti::record(cupti::Records().add(kernel("k", 0, 10 + held, 20 + held)))) ++held;
  EXPECT_EQ(held, 64u) << "256 MiB";
  EXPECT_EQ(cupti::buffers_held(), held);
  EXPECT_FALSE(cupti::record(cupti::Records().add(kernel("k", 0, 1, 2)).add(kernel("k", 0, 2, 3))));
  cupti::fail("cuptiActivityFlushAll", CUPTI_SUCCESS);
  probe.flush();
  EXPECT_EQ(cupti::buffers_held(), 0u);
  for (std::size_t i = 0; i < held; ++i) {
    EXPECT_TRUE(cupti::record(cupti::Records().add(kernel("k", 0, 10, 20)))) << "they are used again";
  }
  const ProbeCounters counters = probe.stop();
  EXPECT_EQ(counters.refused_buffers, 2u);
  EXPECT_EQ(counters.dropped_records, 3u) << "one, then two";
  const RecordedSpans read = recorded();
  EXPECT_EQ(read.scalars.at("cupti.refused_buffers"), 2);
  EXPECT_EQ(read.scalars.at("cupti.dropped_records"), 3);
  EXPECT_EQ(read.spans.size(), 2 * held);
}

TEST_F(CuptiRecords, AGraphHasTheRangesOfItsCaptureAndTheStepsOfItsLaunches) {
  CuptiProbe probe(recorder_);
  probe.push({SpanKind::kForward, 1, kNoBucket, 0, 0});
  cupti::create_node(9);  // nobody follows yet
  probe.pop();
  ASSERT_TRUE(probe.follow_capture(true));
  probe.push({SpanKind::kBackward, kNoStep, kNoBucket, 0, 0});
  cupti::create_node(1);
  probe.push({SpanKind::kCommunication, kNoStep, 3, 4096, 1'000});
  cupti::create_node(2);
  probe.pop();
  probe.pop();
  for (const std::uint64_t node : {1, 2, 9}) cupti::clone_node(node, 100 + node);
  ASSERT_TRUE(probe.follow_capture(false));
  cupti::create_node(3);
  cupti::clone_node(2, 203);  // of a graph that is no business of the engine's
  std::uint32_t number = 0;
  for (std::uint32_t step = 5; step < 7; ++step) {
    const ScopedRange launch(&probe, {SpanKind::kCompute, step, kNoBucket, 0, step});
    const std::uint64_t at = 1'000 * step;
    EXPECT_TRUE(cupti::deliver(call(++number, at, at + 10)));
    EXPECT_TRUE(cupti::deliver(cupti::Records()
                                   .add(kernel("gradient", number, at + 20, at + 30, 101))
                                   .add(kernel(kAllReduce, number, at + 30, at + 60, 102))
                                   .add(kernel("unknown", number, at + 70, at + 80, 109))));
  }
  EXPECT_EQ(probe.stop().without_range, 2u) << "of node 109";
  std::map<std::string, std::vector<Span>> by_name;
  for (const auto& [name, span] : recorded().spans) by_name[name].push_back(span);
  for (std::uint32_t launch = 0; launch < 2; ++launch) {
    const Span gradient = by_name["gradient"].at(launch);
    EXPECT_EQ(gradient.kind, SpanKind::kBackward);
    EXPECT_EQ(gradient.step, 5 + launch);
    const Span all_reduce = by_name["all_reduce"].at(launch);
    EXPECT_EQ(all_reduce.step, 5 + launch);
    EXPECT_EQ(all_reduce.bucket, 3);
    EXPECT_EQ(all_reduce.bytes, 4096u);
    EXPECT_EQ(all_reduce.correlation, 1'005u + launch) << "of its capture and its launch";
    EXPECT_EQ(by_name["unknown"].at(launch).kind, SpanKind::kCompute);
  }
}

}  // namespace
}  // namespace ddbench::cuda
