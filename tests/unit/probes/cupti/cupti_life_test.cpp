// The probe over CUPTI: how it starts, pauses, flushes and ends.
#include "cupti_life.h"
#include "hang_limit.h"

#include <future>
#include <thread>

#include "core/clock.h"
#include "probes/cupti/cupti.h"

namespace ddbench::cuda {
namespace {

using Kinds = std::set<CUpti_ActivityKind>;

const Kinds kWanted{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                    CUPTI_ACTIVITY_KIND_MEMCPY,
                    CUPTI_ACTIVITY_KIND_MEMCPY2,
                    CUPTI_ACTIVITY_KIND_MEMSET,
                    CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                    CUPTI_ACTIVITY_KIND_RUNTIME,
                    CUPTI_ACTIVITY_KIND_DRIVER,
                    CUPTI_ACTIVITY_KIND_OVERHEAD,
                    CUPTI_ACTIVITY_KIND_MARKER};

void expect_quiet_calls() {
  const auto runtime = CUPTI_ACTIVITY_KIND_RUNTIME;
  const auto driver = CUPTI_ACTIVITY_KIND_DRIVER;
  EXPECT_TRUE(cupti::records_call(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000));
  EXPECT_TRUE(cupti::records_call(driver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
  EXPECT_FALSE(cupti::records_call(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020));
  EXPECT_FALSE(cupti::records_call(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020));
  EXPECT_FALSE(cupti::records_call(driver, CUPTI_DRIVER_TRACE_CBID_cuEventQuery));
  EXPECT_FALSE(cupti::records_call(driver, CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent));
}

TEST_F(CuptiLife, StartsWithItsKindsItsClockAndWithoutNoise) {
  CuptiProbe probe(recorder_);
  EXPECT_EQ(probe.unavailable(), "");
  EXPECT_TRUE(cupti::has_subscriber());
  EXPECT_EQ(cupti::enabled_kinds(), kWanted);
  expect_quiet_calls();
  const auto before = static_cast<std::uint64_t>(now_ns());
  const std::uint64_t at = cupti::timestamp();
  EXPECT_GE(at, before);
  EXPECT_LE(at, static_cast<std::uint64_t>(now_ns()));
}

TEST_F(CuptiLife, AnotherToolIsNamedInWordsAndAnotherErrorByItsName) {
  cupti::fail("cuptiSubscribe", CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  {
    CuptiProbe probe(recorder_);
    EXPECT_NE(probe.unavailable().find("another tool"), std::string::npos) << probe.unavailable();
    probe.push({SpanKind::kForward, 1, kNoBucket, 0, 0});
    EXPECT_TRUE(cupti::external_ids().empty()) << "CUPTI is another's";
    probe.pop();
    EXPECT_FALSE(probe.follow_capture(true));
    probe.set_enabled(false);
    probe.set_enabled(true);
    probe.flush();
    EXPECT_EQ(probe.stop().records, 0u);
  }
  EXPECT_EQ(cupti::enabled_kinds(), Kinds());
  EXPECT_EQ(cupti::calls("cuptiActivityFlushAll"), 0u);
  cupti::fail("cuptiSubscribe", CUPTI_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(CuptiProbe(recorder_).unavailable(), "CUPTI cannot be taken: CUPTI_ERROR_NOT_INITIALIZED (15)");
  cupti::fail("cuptiSubscribe", CUPTI_SUCCESS);
  EXPECT_EQ(CuptiProbe(recorder_).unavailable(), "") << "a probe that failed is in nobody's way";
}

TEST_F(CuptiLife, WhatFailsAfterSubscribingLetsCuptiGo) {
  for (const char* const function :
       {"cuptiActivityRegisterTimestampCallback", "cuptiActivityRegisterCallbacks", "cuptiActivityEnable"}) {
    cupti::reset();
    cupti::fail(function, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
    const CuptiProbe probe(recorder_);
    EXPECT_TRUE(probe.unavailable().ends_with("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)"))
        << function << ": " << probe.unavailable();
    EXPECT_FALSE(cupti::has_subscriber()) << function;
  }
}

TEST_F(CuptiLife, OneProbeAProcess) {
  auto first = std::make_unique<CuptiProbe>(recorder_);
  {
    CuptiProbe second(recorder_);
    EXPECT_EQ(second.unavailable(), "this process has a CUDA probe already");
  }
  EXPECT_TRUE(deliver_kernel("of_the_first", 10, 20)) << "the second has taken nothing away";
  EXPECT_EQ(first->stop().spans, 1u);
  first.reset();
  EXPECT_EQ(make_cupti_probe(recorder_)->unavailable(), "");
}

TEST_F(CuptiLife, AFlushDeliversWhatIsPendingThoughCuptiCallsBackFromAnotherThread) {
  CuptiProbe probe(recorder_);
  EXPECT_TRUE(cupti::record(cupti::Records().add(kernel("pending", 0, 10, 20))));
  EXPECT_TRUE(cupti::record(cupti::Records().add(kernel("pending_too", 0, 30, 40))));
  auto flush = std::async(std::launch::async, [&] { probe.flush(); });
  ASSERT_EQ(flush.wait_for(test::kHangs), std::future_status::ready) << "a dead lock";
  EXPECT_EQ(cupti::buffers_held(), 0u);
  recorder_.flush();
  EXPECT_EQ(host::SpoolReader(directory_.path() / "rank0.spool").read().spans.size(), 2u);
  EXPECT_EQ(probe.stop().spans, 2u);
}

TEST_F(CuptiLife, ThreadsMayPushFlushAndDeliverAtOnce) {
  CuptiProbe probe(recorder_);
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint32_t kCalls = 100;
  std::vector<std::jthread> threads;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&probe, thread] {
      for (std::uint32_t i = 0; i < kCalls; ++i) {
        const std::uint32_t number = 1 + thread * kCalls + i;
        const ScopedRange range(&probe, {SpanKind::kForward, number, kNoBucket, 0, 0});
        cupti::deliver(cupti::Records().add(kernel("k", number, number, number + 1)));
        cupti::record(call(number, number, number + 1));
        if (i % 4 == 0) probe.flush();
      }
    });
  }
  threads.clear();
  const ProbeCounters counters = probe.stop();
  EXPECT_EQ(counters.without_range, 0u);
  EXPECT_EQ(counters.dropped_records, 0u);
  EXPECT_EQ(counters.spans, 2u * kThreads * kCalls);
  for (const auto& [name, span] : recorded().spans) {
    EXPECT_EQ(span.step, static_cast<std::uint32_t>(span.begin_ns)) << name;
  }
}

TEST_F(CuptiLife, WhatIsPendingComesByItselfBeforeLong) {
  CuptiProbe probe(recorder_);
  EXPECT_TRUE(cupti::record(cupti::Records().add(kernel("pending", 0, 10, 20))));
  const std::int64_t give_up_ns = now_ns() + std::chrono::nanoseconds(test::kHangs).count();
  while (cupti::buffers_held() > 0 && now_ns() < give_up_ns) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(cupti::buffers_held(), 0u);
  EXPECT_EQ(probe.stop().spans, 1u);
}

TEST_F(CuptiLife, AProbeOffWindowRecordsNothingAndLosesNothingOfBefore) {
  CuptiProbe probe(recorder_);
  EXPECT_TRUE(cupti::record(cupti::Records().add(kernel("before", 0, 10, 20))));
  probe.set_enabled(false);
  recorder_.set_enabled(false);  // as the engine does
  EXPECT_EQ(cupti::enabled_kinds(), Kinds());
  EXPECT_TRUE(cupti::record(cupti::Records().add(kernel("meanwhile", 0, 30, 40))));
  EXPECT_EQ(cupti::buffers_held(), 0u);
  probe.flush();
  recorder_.set_enabled(true);
  probe.set_enabled(true);
  EXPECT_EQ(cupti::enabled_kinds(), kWanted);
  expect_quiet_calls();
  EXPECT_TRUE(cupti::record(cupti::Records().add(kernel("after", 0, 50, 60))));
  probe.stop();
  const RecordedSpans read = recorded();
  ASSERT_EQ(read.spans.size(), 2u);
  EXPECT_EQ(read.spans[0].name, "before");
  EXPECT_EQ(read.spans[1].name, "after");
}

TEST_F(CuptiLife, StopsOnceAndLeavesNothingBehind) {
  CuptiProbe probe(recorder_);
  EXPECT_TRUE(cupti::record(cupti::Records().add(kernel("last", 0, 10, 20))));
  const ProbeCounters counters = probe.stop();
  EXPECT_EQ(counters.spans, 1u);
  EXPECT_FALSE(cupti::has_subscriber());
  EXPECT_EQ(cupti::enabled_kinds(), Kinds());
  const std::size_t flushes = cupti::calls("cuptiActivityFlushAll");
  EXPECT_EQ(probe.stop().spans, 1u);
  probe.flush();
  probe.set_enabled(true);
  EXPECT_FALSE(probe.follow_capture(true));
  probe.push({SpanKind::kForward, 1, kNoBucket, 0, 0});
  probe.pop();
  EXPECT_EQ(cupti::calls("cuptiActivityFlushAll"), flushes);
  EXPECT_EQ(cupti::calls("cuptiUnsubscribe"), 1u);
  EXPECT_EQ(cupti::enabled_kinds(), Kinds());
  int reported = 0;
  recorder_.stop();
  const host::SpoolBatch batch = host::SpoolReader(directory_.path() / "rank0.spool").read();
  for (const host::Scalar& scalar : batch.scalars) reported += batch.new_names[scalar.name_id] == "cupti.records";
  EXPECT_EQ(reported, 1);
}

// What the stand-in refuses, so that the tests above mean something.
TEST(CuptiOnHost, RefusesWhatCuptiRefuses) {
  cupti::reset();
  std::uint64_t id = 0;
  EXPECT_EQ(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id),
            CUPTI_ERROR_QUEUE_EMPTY);
  EXPECT_EQ(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_INVALID, 1),
            CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(cuptiActivityFlushAll(0), CUPTI_ERROR_INVALID_OPERATION);
  EXPECT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY), CUPTI_ERROR_INVALID_OPERATION);
  EXPECT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_INVALID), CUPTI_ERROR_INVALID_KIND);
  EXPECT_EQ(cuptiActivityRegisterCallbacks(nullptr, nullptr), CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(cuptiUnsubscribe(nullptr), CUPTI_ERROR_INVALID_PARAMETER);
  CUpti_SubscriberHandle subscriber = nullptr;
  EXPECT_EQ(cuptiSubscribe(&subscriber, nullptr, nullptr), CUPTI_SUCCESS);
  CUpti_SubscriberHandle second = nullptr;
  EXPECT_EQ(cuptiSubscribe(&second, nullptr, nullptr), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  EXPECT_EQ(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_SIZE),
            CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(cuptiGetGraphNodeId(nullptr, &id), CUPTI_ERROR_INVALID_PARAMETER);
  CUpti_Activity* record = nullptr;
  std::uint8_t none = 0;
  EXPECT_EQ(cuptiActivityGetNextRecord(&none, 1, &record), CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(cupti::refusals().size(), 11u);
  cupti::reset();
}

}  // namespace
}  // namespace ddbench::cuda
