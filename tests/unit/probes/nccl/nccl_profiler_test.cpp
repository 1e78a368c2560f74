#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>
#include <thread>

#include "hang_limit.h"
#include "nccl_driver.h"
#include "probes/preload/session/thread_range.h"

namespace ddbench::nccl {
namespace {

TEST_F(NcclDriver, ACollectiveIsFromItsFirstChannelToItsLastAndNotItsEnqueueing) {
  Comm5 comm(version_5(), 0x1234, 4, 0);
  EXPECT_EQ(comm.mask & static_cast<int>(kColl | kKernelCh | kGroupApi | kKernelLaunch),
            static_cast<int>(kColl | kKernelCh | kGroupApi | kKernelLaunch));
  void* const coll = comm.coll("AllReduce", 7, 1000, 2);
  comm.stop(coll);
  const std::uint64_t begin = timer();
  void* const first = comm.channel(coll, 0, begin + 500);
  void* const second = comm.channel(coll, 1, begin);
  comm.end_channel(first, begin + 900);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the callback is late
  comm.end_channel(second, begin + 2'000);
  comm.finalize();
  const Recorded all = recorded();
  ASSERT_EQ(all.events.size(), 1u);
  EXPECT_EQ(all.events[0].duration_ns(), 2'000);
  EXPECT_EQ(all.events[0].bytes, 4'000u);
  EXPECT_EQ(all.events[0].correlation,
            collective_key(0x1234, nccl_sequence(nccl_function_number("all_reduce"), 7)));
  EXPECT_EQ(all.names[0], (NcclEvent{"all_reduce", "RING", "LL128", 2, "direct"}));
}

TEST_F(NcclDriver, TimersThatAreNoTimesCountAsNone) {
  Comm5 comm(version_5(), 1, 4, 0);
  whole(comm, "AllReduce", 1, 100, 1);  // the timer's offset is known
  void* const coll = comm.coll("AllReduce", 2, 100, 1);
  comm.stop(coll);
  const std::int64_t before_ns = now_ns();
  void* const channel = comm.channel(coll, 0, std::uint64_t{1} << 63);
  comm.end_channel(channel, ~std::uint64_t{0});
  const std::int64_t after_ns = now_ns();
  comm.finalize();
  const Recorded all = recorded();
  ASSERT_EQ(all.events.size(), 2u);
  EXPECT_GE(all.events[1].begin_ns, before_ns);
  EXPECT_LE(all.events[1].begin_ns, all.events[1].end_ns);
  EXPECT_LE(all.events[1].end_ns, after_ns);
}

TEST_F(NcclDriver, BytesAreThoseOfAllRanks) {
  Comm5 comm(version_5(), 1, 8, 3);
  whole(comm, "AllGather", 0, 100, 1);
  whole(comm, "ReduceScatter", 0, 100, 1);
  whole(comm, "Broadcast", 0, 100, 1);
  comm.finalize();
  const Recorded all = recorded();
  ASSERT_EQ(all.events.size(), 3u);
  EXPECT_EQ(all.events[0].bytes, 3'200u);
  EXPECT_EQ(all.events[1].bytes, 3'200u);
  EXPECT_EQ(all.events[2].bytes, 400u);
}

TEST_F(NcclDriver, SplitCommunicatorsCountTheirCollectivesApart) {
  Comm5 world(version_5(), 10, 4, 1);
  Comm5 half(version_5(), 20, 2, 0);
  whole(world, "AllReduce", 0, 10, 1);
  whole(half, "AllReduce", 0, 10, 1);
  half.finalize();
  whole(world, "AllReduce", 1, 10, 1);
  world.finalize();
  const Recorded all = recorded();
  std::set<std::uint64_t> keys;
  for (const Span& span : all.events) keys.insert(span.correlation);
  EXPECT_EQ(keys.size(), 3u);
  EXPECT_EQ(all.counters.at("nccl.unfinished"), 0);
}

TEST_F(NcclDriver, WhatIsUnpairedIsCountedAndNotFollowed) {
  Comm5 comm(version_5(), 2, 2, 0);
  void* const coll = comm.coll("AllReduce", 0, 10, 1);
  comm.stop(coll);
  void* const channel = comm.channel(coll, 0, timer());
  comm.end_channel(channel, timer());
  comm.end_channel(channel, timer());                      // stopped twice
  EXPECT_EQ(comm.channel(coll, 0, timer()), nullptr);      // below one that has ended
  comm.stop(reinterpret_cast<void*>(0x6000000000020001));  // a channel that was never handed out
  EXPECT_EQ(comm.channel(nullptr, 0, timer()), nullptr);   // its collective was dropped
  comm.finalize();
  const Recorded all = recorded();
  EXPECT_EQ(all.events.size(), 1u);
  EXPECT_EQ(all.counters.at("nccl.unpaired"), 3);
}

TEST_F(NcclDriver, AnAbortedCollectiveIsRecordedAsFarAsItCame) {
  Comm5 comm(version_5(), 3, 2, 0);
  void* const never_began = comm.coll("AllReduce", 0, 10, 2);
  comm.stop(never_began);
  void* const half_done = comm.coll("AllReduce", 1, 10, 2);
  comm.stop(half_done);
  comm.end_channel(comm.channel(half_done, 0, timer()), timer(100));
  comm.channel(half_done, 1, timer());
  comm.finalize();  // ncclCommAbort
  const Recorded all = recorded();
  ASSERT_EQ(all.events.size(), 1u);
  EXPECT_GE(all.events[0].duration_ns(), 0);
  EXPECT_EQ(all.counters.at("nccl.unfinished"), 2);
}

TEST_F(NcclDriver, AProxyOfAnotherProcessIsNotFollowed) {
  Comm5 comm(version_5(), 4, 2, 0);
  void* const coll = comm.coll("AllReduce", 0, 10, 1);
  EXPECT_EQ(comm.proxy(coll, ::getpid() + 1), nullptr);
  void* const own = comm.proxy(coll, ::getpid());
  ASSERT_NE(own, nullptr);
  comm.stop(coll);
  comm.end_channel(comm.channel(coll, 0, timer()), timer());
  EXPECT_EQ(comm.proxy(reinterpret_cast<void*>(0x7fffdeadbee0), ::getpid() + 1), nullptr);
  comm.stop(own);
  comm.finalize();
  const Recorded all = recorded();
  ASSERT_EQ(all.events.size(), 1u);
  EXPECT_EQ(all.names[0].transport, "proxy");
  EXPECT_EQ(all.counters.at("nccl.foreign_proxies"), 2);
}

TEST_F(NcclDriver, NetworkEventsProveTheTransportAndAreThenNotAskedForAgain) {
  Comm5 comm(version_5(), 5, 2, 0);
  ASSERT_TRUE(comm.mask & static_cast<int>(kNetPlugin));
  void* const coll = comm.coll("AllReduce", 0, 10, 1);
  void* const proxy = comm.proxy(coll, ::getpid());
  EventV5 step{};
  step.type = kProxyStep;
  step.parentObj = proxy;
  EventV5 net{};
  net.type = kNetPlugin;
  net.parentObj = comm.start(step);
  net.netPlugin.id = (kNetSocket << 16) | 1;
  comm.start(net);
  comm.stop(net.parentObj);
  comm.stop(proxy);
  comm.stop(coll);
  comm.end_channel(comm.channel(coll, 0, timer()), timer());
  EXPECT_FALSE(comm.mask & static_cast<int>(kNetPlugin));
  EXPECT_TRUE(comm.mask & static_cast<int>(kColl));
  comm.finalize();
  EXPECT_EQ(recorded().names.at(0).transport, "socket");
}

TEST_F(NcclDriver, TheRangeOfTheEngineNamesStepAndBucket) {
  Comm5 comm(version_5(), 7, 2, 0);
  inject::push_thread_range({SpanKind::kCommunication, 12, 3, 4096, collective_key(1, 99)});
  void* const coll = comm.coll("AllReduce", 0, 10, 1);
  inject::pop_thread_range();
  comm.stop(coll);
  comm.end_channel(comm.channel(coll, 0, timer()), timer());
  comm.finalize();
  const Recorded all = recorded();
  ASSERT_EQ(all.events.size(), 1u);
  EXPECT_EQ(all.events[0].step, 12u);
  EXPECT_EQ(all.events[0].bucket, 3);
  EXPECT_EQ(all.events[0].bytes, 4096u);
  EXPECT_EQ(all.events[0].correlation, collective_key(1, 99));
}

TEST_F(NcclDriver, WhatNcclsOwnThreadEnqueuesIsInTheRangeOfTheThreadThatWaits) {
  Comm5 comm(version_5(), 7, 2, 0);
  void* coll = nullptr;
  inject::push_thread_range({SpanKind::kCommunication, 12, 3, 4096, collective_key(1, 99)});
  std::thread([&] { coll = comm.coll("AllReduce", 0, 10, 1); }).join();
  inject::pop_thread_range();
  comm.stop(coll);
  comm.end_channel(comm.channel(coll, 0, timer()), timer());
  std::thread([&] { coll = comm.coll("AllReduce", 0, 10, 2); }).join();
  comm.stop(coll);
  comm.end_channel(comm.channel(coll, 0, timer()), timer());
  comm.finalize();
  const Recorded all = recorded();
  ASSERT_EQ(all.events.size(), 2u);
  EXPECT_EQ(all.events[0].step, 12u);
  EXPECT_EQ(all.events[0].correlation, collective_key(1, 99));
  EXPECT_EQ(all.events[1].step, kNoStep) << "nobody waits";
}

TEST_F(NcclDriver, LaunchesAndGroupsAreHostTime) {
  Comm5 comm(version_5(), 8, 2, 0);
  for (const EventType type : {kGroupApi, kKernelLaunch}) {
    EventV5 event{};
    event.type = type;
    comm.stop(comm.start(event));
  }
  EventV5 group{};
  group.type = kGroup;
  void* const handle = comm.start(group);
  EXPECT_NE(handle, nullptr);
  comm.stop(handle);
  comm.finalize();
  const Recorded all = recorded();
  ASSERT_EQ(all.host.size(), 2u);
  EXPECT_EQ(all.host[0].kind, SpanKind::kHost);
  EXPECT_EQ(all.host[0].lane, Lane::kMain) << "not in the GPU's row";
}

TEST_F(NcclDriver, WhenACollectiveWasEnqueuedIsTheHostsSpanOfItsKey) {
  Comm5 comm(version_5(), 16, 2, 0);
  const std::int64_t before_ns = now_ns();
  void* const coll = comm.coll("AllReduce", 3, 10, 1);
  comm.stop(coll);
  const std::int64_t after_ns = now_ns();
  comm.end_channel(comm.channel(coll, 0, timer()), timer(1'000'000));
  comm.stop(comm.coll("AllReduce", 4, 10, 1));  // never begins
  comm.finalize();
  const Recorded all = recorded();
  ASSERT_EQ(all.host.size(), 2u);
  EXPECT_EQ(all.host[0].kind, SpanKind::kHost);
  EXPECT_EQ(all.host[0].lane, Lane::kMain);
  EXPECT_GE(all.host[0].begin_ns, before_ns);
  EXPECT_LE(all.host[0].end_ns, after_ns) << "its kernel runs on";
  EXPECT_EQ(all.host[0].bytes, 40u);
  ASSERT_EQ(all.events.size(), 1u);
  EXPECT_EQ(all.host[0].correlation, all.events[0].correlation);
  EXPECT_NE(all.host[1].correlation, all.host[0].correlation);
}

TEST_F(NcclDriver, MoreThanFitAreRecordedAndTheOldestMakePlace) {
  Comm5 comm(version_5(), 9, 2, 0);
  void* first = nullptr;
  for (std::uint64_t sequence = 0; sequence < 9'000; ++sequence) {
    void* const coll = comm.coll("AllReduce", sequence, 10, 1);
    if (first == nullptr) first = coll;
    comm.stop(coll);
  }
  EXPECT_EQ(comm.channel(first, 0, timer()), nullptr) << "it was given up";
  comm.finalize();
  EXPECT_EQ(recorded().counters.at("nccl.unfinished"), 9'000);
}

TEST_F(NcclDriver, Version4HasTheCommunicatorInAnotherPlace) {
  Comm4 comm(plugin<PluginV4>("ncclProfiler_v4"), 0x77, 2, 1);
  whole(comm, "ReduceScatter", 3, 50, 2);
  comm.finalize();
  const Recorded all = recorded();
  ASSERT_EQ(all.events.size(), 1u);
  EXPECT_EQ(all.events[0].correlation >> 48, 0x77u);
  EXPECT_EQ(all.events[0].bytes, 400u);
}

TEST_F(NcclDriver, Version3HasNoTimersAndNamesTheCommunicatorInItsEvents) {
  auto& v3 = plugin<PluginV3>("ncclProfiler_v3");
  void* context = nullptr;
  v3.init(&context, &event_mask);
  EventV3 event{};
  event.type = kColl;
  event.rank = 1;
  event.coll.commHash = 0x99;
  event.coll.seqNumber = 5;
  event.coll.func = "AllReduce";
  event.coll.count = 25;
  event.coll.datatype = "ncclBfloat16";
  event.coll.nMaxChannels = 1;
  void* coll = nullptr;
  v3.startEvent(context, &coll, &event);
  v3.stopEvent(coll);
  EventV3 kernel{};
  kernel.type = kKernelCh;
  kernel.parentObj = coll;
  void* channel = nullptr;
  v3.startEvent(context, &channel, &kernel);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  v3.stopEvent(channel);
  v3.finalize(context);
  const Recorded all = recorded();
  ASSERT_EQ(all.events.size(), 1u);
  EXPECT_GE(all.events[0].duration_ns(), 2'000'000);
  EXPECT_EQ(all.events[0].bytes, 50u);
  EXPECT_EQ(all.events[0].correlation >> 48, 0x99u);
}

TEST_F(NcclDriver, Version6IsThere) {
  Comm5 comm(plugin<PluginV6>("ncclProfiler_v6"), 11, 2, 0);
  whole(comm, "AllReduce", 0, 1, 1);
  comm.finalize();
  EXPECT_EQ(recorded().events.size(), 1u);
}

/// NCCL asks the mask before each event.
TEST_F(NcclDriver, SampledWindowsTurnTheMaskOffAndOn) {
  PluginV5& v5 = version_5();
  host::SpoolReader reader(spool_of_program([&v5] {
    ::setenv("DDBENCH_NCCL_WINDOW", "5/20", 1);
    Comm5 comm(v5, 15, 2, 1);
    // Windows follow the clock, so the communicator may begin outside of one.
    const std::int64_t until_ns = now_ns() + std::chrono::nanoseconds(test::kHangs).count();
    const auto await = [&comm, until_ns](bool on) {
      while ((__atomic_load_n(&comm.mask, __ATOMIC_RELAXED) != 0) != on && now_ns() < until_ns) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    };
    for (std::uint64_t call = 0; call < 5; ++call) {
      await(true);
      whole(comm, "AllReduce", call, 1, 1);
      await(false);
    }
    comm.finalize();
    if (now_ns() >= until_ns) std::_Exit(1);
  }));
  const host::SpoolBatch batch = reader.read();
  EXPECT_EQ(std::count_if(batch.spans.begin(), batch.spans.end(),
                          [](const Span& span) { return span.kind == SpanKind::kNcclEvent; }),
            5);
}

/// In any program of NCCL's, without ddbench: only NCCL_PROFILER_PLUGIN is set.
TEST_F(NcclDriver, AloneItWritesASpoolIntoTheFolderOfTheEnvironment) {
  PluginV5& v5 = version_5();
  host::SpoolReader reader(spool_of_program([&v5] {
    ::setenv("NCCL_ALGO", "Ring", 1);
    Comm5 comm(v5, 12, 2, 1);
    whole(comm, "AllReduce", 0, 1, 1);
    comm.finalize();
  }));
  const host::SpoolBatch batch = reader.read();
  EXPECT_EQ(reader.rank(), 1);
  EXPECT_TRUE(batch.ended);
  const auto of_kind = [&](SpanKind kind) {
    return std::count_if(batch.spans.begin(), batch.spans.end(),
                         [kind](const Span& span) { return span.kind == kind; });
  };
  EXPECT_EQ(of_kind(SpanKind::kNcclEvent), 1);
  EXPECT_EQ(of_kind(SpanKind::kHost), 1) << "when it was enqueued";
  EXPECT_EQ(batch.spans.size(), 2u);
  EXPECT_EQ(std::count(batch.new_names.begin(), batch.new_names.end(), "nccl.NCCL_ALGO: Ring"), 1);
}

}  // namespace
}  // namespace ddbench::nccl
