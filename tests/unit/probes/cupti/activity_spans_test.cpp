// Hand-built records of CUPTI: no GPU, no driver.
#include "probes/cupti/activity_spans.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "probes/cupti/collective_times.h"

namespace ddbench::cuda {
namespace {

constexpr const char* kAllReduce =
    "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE";

class ActivitySpansTest : public ::testing::Test {
 protected:
  struct Named {
    Span span;
    std::string name;
  };

  ActivitySpansTest()
      : spans_([this](std::uint64_t id) { return ranges_.contains(id) ? &ranges_.at(id) : nullptr; },
               [this](std::int64_t at_ns) {
                 return collectives_.find(at_ns, collective_) ? &collective_ : nullptr;
               },
               [this](std::uint64_t node) { return nodes_.contains(node) ? &nodes_.at(node) : nullptr; },
               [](const CUpti_ActivityAPI&) { return std::string_view("cudaLaunchKernel"); },
               [this](const Span& span, std::string_view name) {
                 out_.push_back({span, std::string(name)});
               }) {}

  const CUpti_Activity* kernel(const char* name, std::uint64_t begin, std::uint64_t end,
                               std::uint32_t call = 0, std::uint64_t node = 0) {
    auto& record = kernels_.emplace_back();
    record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    record.name = name;
    record.start = begin;
    record.end = end;
    record.correlationId = call;
    record.graphNodeId = node;
    return reinterpret_cast<const CUpti_Activity*>(&record);
  }
  const CUpti_Activity* copy(std::uint64_t bytes, std::uint64_t begin, std::uint64_t end,
                             std::uint32_t call = 0) {
    auto& record = copies_.emplace_back();
    record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    record.bytes = bytes;
    record.start = begin;
    record.end = end;
    record.correlationId = call;
    return reinterpret_cast<const CUpti_Activity*>(&record);
  }
  const CUpti_Activity* external(std::uint64_t id, std::uint32_t call) {
    auto& record = externals_.emplace_back();
    record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    record.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
    record.externalId = id;
    record.correlationId = call;
    return reinterpret_cast<const CUpti_Activity*>(&record);
  }
  const CUpti_Activity* api(std::uint32_t call, std::uint64_t begin, std::uint64_t end) {
    auto& record = apis_.emplace_back();
    record.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
    record.correlationId = call;
    record.start = begin;
    record.end = end;
    return reinterpret_cast<const CUpti_Activity*>(&record);
  }
  const CUpti_Activity* marker(std::uint32_t id, CUpti_ActivityFlag flags, std::uint64_t at,
                               const char* name) {
    auto& record = markers_.emplace_back();
    record.kind = CUPTI_ACTIVITY_KIND_MARKER;
    record.id = id;
    record.flags = flags;
    record.timestamp = at;
    record.name = name;
    return reinterpret_cast<const CUpti_Activity*>(&record);
  }
  void convert(const std::vector<const CUpti_Activity*>& records) { spans_.convert(records); }

  std::map<std::uint64_t, Range> ranges_;
  std::map<std::uint64_t, Range> nodes_;
  CollectiveTimes collectives_;
  Range collective_;
  std::vector<Named> out_;
  ActivitySpans spans_;

 private:
  std::deque<KernelRecord> kernels_;
  std::deque<MemcpyRecord> copies_;
  std::deque<CUpti_ActivityExternalCorrelation> externals_;
  std::deque<CUpti_ActivityAPI> apis_;
  std::deque<MarkerRecord> markers_;
};

TEST_F(ActivitySpansTest, KernelsAreComputeAndThoseOfNcclCommunication) {
  convert({kernel("gemm", 100, 200), kernel(kAllReduce, 150, 400), copy(4096, 300, 350)});
  ASSERT_EQ(out_.size(), 3u);
  EXPECT_EQ(out_[0].span.kind, SpanKind::kCompute);
  EXPECT_EQ(out_[0].span.lane, Lane::kDeviceCompute);
  EXPECT_EQ(out_[0].name, "gemm");
  EXPECT_EQ(out_[1].span.kind, SpanKind::kCommunication);
  EXPECT_EQ(out_[1].span.lane, Lane::kDeviceCommunication);
  EXPECT_EQ(out_[1].name, "all_reduce");
  EXPECT_EQ(out_[1].span.duration_ns(), 250);
  EXPECT_EQ(out_[2].span.kind, SpanKind::kCopy);
  EXPECT_EQ(out_[2].span.bytes, 4096u);
}

TEST_F(ActivitySpansTest, ARangeGivesKindStepBucketAndKey) {
  ranges_[1] = {SpanKind::kBackward, 7, kNoBucket, 0, 0};
  ranges_[2] = {SpanKind::kCommunication, 7, 3, 1 << 20, collective_key(1, 15)};
  convert({external(1, 50), api(50, 1, 2), kernel("gemm", 100, 200, 50), external(2, 51), api(51, 3, 4),
           kernel(kAllReduce, 150, 400, 51), kernel("scale", 410, 420, 51)});
  ASSERT_EQ(out_.size(), 5u);
  EXPECT_EQ(out_[1].span.kind, SpanKind::kBackward);
  EXPECT_EQ(out_[1].span.step, 7u);
  EXPECT_EQ(out_[3].span.kind, SpanKind::kCommunication);
  EXPECT_EQ(out_[3].span.bucket, 3);
  EXPECT_EQ(out_[3].span.bytes, 1u << 20);
  EXPECT_EQ(out_[3].span.correlation, collective_key(1, 15));
  EXPECT_EQ(out_[4].span.kind, SpanKind::kCompute) << "no kernel of NCCL is no communication";
  EXPECT_EQ(out_[4].span.correlation, 0u);
}

TEST_F(ActivitySpansTest, ACollectiveHasTheNameOfItsRange) {
  ranges_[1] = {SpanKind::kCommunication, 7, 3, 64, collective_key(1, 15), "push"};
  convert({external(1, 50), api(50, 1, 2), kernel("ncclDevKernel_SendRecv", 100, 200, 50),
           kernel("scale", 210, 220, 50)});
  std::vector<std::string> names;
  for (const Named& named : out_) names.push_back(named.name);
  EXPECT_EQ(std::count(names.begin(), names.end(), "push"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "scale"), 1) << "no kernel of NCCL";
}

TEST_F(ActivitySpansTest, NcclIsCommunicationInAnyRange) {
  ranges_[1] = {SpanKind::kForward, 2, kNoBucket, 0, 0};
  convert({external(1, 9), kernel(kAllReduce, 10, 20, 9)});
  ASSERT_EQ(out_.size(), 1u);
  EXPECT_EQ(out_[0].span.kind, SpanKind::kCommunication);
  EXPECT_EQ(out_[0].span.step, 2u);
}

TEST_F(ActivitySpansTest, AKernelThatNcclsOwnThreadStartedIsThatOfTheCollectiveUnderWay) {
  ranges_[1] = {SpanKind::kForward, 2, kNoBucket, 0, 0};
  collectives_.begin({SpanKind::kCommunication, 2, 0, 64, collective_key(1, 7)}, 100);
  collectives_.end(200);
  collectives_.begin({SpanKind::kCommunication, 2, 1, 128, collective_key(1, 8)}, 300);
  collectives_.end(400);
  convert({external(1, 9), kernel("forward", 110, 320, 9), api(10, 105, 106), api(11, 305, 306),
           api(12, 445, 446), kernel(kAllReduce, 120, 190, 10), kernel(kAllReduce, 310, 390, 11),
           kernel(kAllReduce, 450, 460, 12), kernel("not of NCCL", 120, 130, 10)});
  std::map<std::int64_t, Span> by_begin;
  for (const Named& named : out_) {
    if (named.name == "all_reduce") by_begin[named.span.begin_ns] = named.span;
    if (named.name == "not of NCCL") {
      EXPECT_EQ(named.span.step, kNoStep);
    }
  }
  ASSERT_EQ(by_begin.size(), 3u);
  EXPECT_EQ(by_begin[120].correlation, collective_key(1, 7));
  EXPECT_EQ(by_begin[310].correlation, collective_key(1, 8));
  EXPECT_EQ(by_begin[310].bucket, 1u);
  EXPECT_EQ(by_begin[310].step, 2u);
  EXPECT_EQ(by_begin[450].step, kNoStep) << "after the last one's end";
}

TEST_F(ActivitySpansTest, BuffersComeInAnyOrder) {
  ranges_[1] = {SpanKind::kForward, 1, kNoBucket, 0, 0};
  ranges_[2] = {SpanKind::kOptimizer, 1, kNoBucket, 0, 0};
  convert({external(1, 10), kernel("first", 10, 20, 10)});
  convert({kernel("early", 30, 40, 11)});  // the device's buffer came before the host's
  EXPECT_EQ(out_.size(), 1u) << "it waits";
  convert({external(2, 11), api(11, 25, 26)});
  ASSERT_EQ(out_.size(), 3u);
  EXPECT_EQ(out_[1].name, "early");
  EXPECT_EQ(out_[1].span.kind, SpanKind::kOptimizer);
  EXPECT_EQ(spans_.counters().without_range, 0u);
}

TEST_F(ActivitySpansTest, WhatHasNoCallIsRecordedInTheEndAndCounted) {
  ranges_[1] = {SpanKind::kForward, 1, kNoBucket, 0, 0};
  convert({external(1, 10), kernel("reported", 10, 20, 10), kernel("dropped its call", 30, 40, 99)});
  EXPECT_EQ(out_.size(), 1u);
  spans_.finish();
  ASSERT_EQ(out_.size(), 2u);
  EXPECT_EQ(out_[1].span.kind, SpanKind::kCompute);
  EXPECT_EQ(out_[1].span.step, kNoStep);
  EXPECT_EQ(spans_.counters().without_range, 1u);
}

TEST_F(ActivitySpansTest, HeldWorkIsBounded) {
  ranges_[1] = {SpanKind::kForward, 1, kNoBucket, 0, 0};
  convert({external(1, 1), kernel("reported", 1, 2, 1)});
  for (std::uint32_t i = 0; i < 40'000; ++i) convert({kernel("lost", 10, 20, 1'000 + i)});
  EXPECT_GT(out_.size(), 7'000u);
  EXPECT_EQ(spans_.counters().without_range, out_.size() - 1);
}

TEST_F(ActivitySpansTest, CallsOutsideOfRangesHoldNothingBack) {
  ranges_[1] = {SpanKind::kForward, 1, kNoBucket, 0, 0};
  convert({external(1, 1), api(1, 1, 2), kernel("in", 1, 2, 1), api(2, 3, 4), kernel("out", 5, 6, 2)});
  ASSERT_EQ(out_.size(), 4u);
  EXPECT_EQ(out_[3].name, "out");
  EXPECT_EQ(out_[3].span.step, kNoStep);
}

TEST_F(ActivitySpansTest, AGraphsKernelsShareTheRangeOfItsLaunch) {
  ranges_[1] = {SpanKind::kCompute, 4, kNoBucket, 0, 0};
  convert({external(1, 70), api(70, 1, 5), kernel("a", 10, 20, 70), kernel("b", 20, 30, 70)});
  convert({kernel("c", 30, 40, 70), kernel(kAllReduce, 40, 50, 70)});
  ASSERT_EQ(out_.size(), 5u);
  for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(out_[i].span.step, 4u) << i;
}

TEST_F(ActivitySpansTest, ACapturedGraphsKernelsHaveTheRangesOfTheirCapture) {
  nodes_[301] = {SpanKind::kForward, 2, kNoBucket, 0, 0};
  nodes_[302] = {SpanKind::kBackward, 2, kNoBucket, 0, 0};
  nodes_[303] = {SpanKind::kCommunication, kNoStep, 1, 4096, 1};
  ranges_[1] = {SpanKind::kCompute, 7, kNoBucket, 0, collective_key(1, 90)};
  convert({external(1, 70), kernel("forward", 10, 20, 70, 301), kernel("backward", 20, 30, 70, 302),
           kernel(kAllReduce, 25, 40, 70, 303)});
  ASSERT_EQ(out_.size(), 3u);
  for (const Named& named : out_) EXPECT_EQ(named.span.step, 7u) << "that of the launch: " << named.name;
  EXPECT_EQ(out_[0].span.kind, SpanKind::kForward);
  EXPECT_EQ(out_[1].span.kind, SpanKind::kBackward);
  EXPECT_EQ(out_[2].span.kind, SpanKind::kCommunication);
  EXPECT_EQ(out_[2].span.bucket, 1u);
  EXPECT_EQ(out_[2].span.bytes, 4096u);
  EXPECT_EQ(out_[2].span.correlation, collective_key(1, 91));
  EXPECT_EQ(spans_.counters().without_range, 0u);
}

TEST_F(ActivitySpansTest, ANodeOfUnknownRangeIsCountedAndStaysInItsStep) {
  ranges_[1] = {SpanKind::kCompute, 7, kNoBucket, 0, 0};
  convert({external(1, 70), kernel("a", 10, 20, 70, 999)});
  ASSERT_EQ(out_.size(), 1u);
  EXPECT_EQ(out_[0].span.step, 7u);
  EXPECT_EQ(out_[0].span.kind, SpanKind::kCompute);
  EXPECT_EQ(spans_.counters().without_range, 1u);
}

TEST_F(ActivitySpansTest, InvalidTimesAreCountedAndNotUsed) {
  convert({kernel("no begin", 0, 10), kernel("no end", 10, 0), kernel("backwards", 20, 10), copy(1, 0, 0),
           kernel("instant", 5, 5)});
  ASSERT_EQ(out_.size(), 1u);
  EXPECT_EQ(out_[0].name, "instant");
  EXPECT_EQ(spans_.counters().invalid_times, 4u);
  EXPECT_EQ(spans_.counters().records, 5u);
  EXPECT_EQ(spans_.counters().spans, 1u);
}

TEST_F(ActivitySpansTest, UnknownKernelsOfNcclAreListedOnceAndCountAsCommunication) {
  convert({kernel("ncclDevKernel_Frobnicate", 1, 2), kernel("ncclDevKernel_Frobnicate", 3, 4),
           kernel("gemm", 5, 6)});
  ASSERT_EQ(spans_.counters().unknown_kernels.size(), 1u);
  EXPECT_EQ(spans_.counters().unknown_kernels[0], "ncclDevKernel_Frobnicate");
  EXPECT_EQ(out_[0].span.kind, SpanKind::kCommunication);
  EXPECT_EQ(out_[0].name, "ncclDevKernel_Frobnicate");
}

TEST_F(ActivitySpansTest, NvtxRangesArePairedById) {
  convert({marker(1, CUPTI_ACTIVITY_FLAG_MARKER_START, 10, "forward"),
           marker(2, CUPTI_ACTIVITY_FLAG_MARKER_START, 12, "layer")});
  convert({marker(2, CUPTI_ACTIVITY_FLAG_MARKER_END, 15, nullptr),
           marker(1, CUPTI_ACTIVITY_FLAG_MARKER_END, 20, nullptr),
           marker(9, CUPTI_ACTIVITY_FLAG_MARKER_END, 30, nullptr)});
  ASSERT_EQ(out_.size(), 2u);
  EXPECT_EQ(out_[0].name, "layer");
  EXPECT_EQ(out_[1].span.duration_ns(), 10);
}

}  // namespace
}  // namespace ddbench::cuda
