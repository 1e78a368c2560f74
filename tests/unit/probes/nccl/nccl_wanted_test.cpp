// Which events NCCL is asked for, what is known without those of its kernels, and what ends an operation.
#include <sys/wait.h>

#include <algorithm>

#include "nccl_driver.h"
#include "probes/preload/session/nccl_plugin.h"
#include "probes/recorder/flight_ring.h"

namespace ddbench::nccl {
namespace {

constexpr int kKernels = static_cast<int>(kKernelCh | kProxyOp | kKernelPhase | kNetPlugin);
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST(NcclWanted, KernelsReportOnlyWhereTheyAreNeededAndDoNoHarm) {
  const EventConditions usual{5, kGiB, false, 1, false, false, std::nullopt};
  EXPECT_EQ(why_no_kernel_events(usual), "");
  EXPECT_EQ(wanted_events(usual) & kKernels, static_cast<int>(kKernelCh | kProxyOp | kNetPlugin));
  const auto expect_none = [](const EventConditions& conditions, const char* word) {
    EXPECT_NE(why_no_kernel_events(conditions).find(word), std::string_view::npos) << word;
    EXPECT_EQ(wanted_events(conditions) & kKernels, 0) << word;
    EXPECT_TRUE(wanted_events(conditions) & static_cast<int>(kColl)) << word;
  };
  EventConditions other = usual;
  other.kernels_are_recorded = true;
  expect_none(other, "CUPTI");
  other.communicators = 2;
  EXPECT_EQ(why_no_kernel_events(other), "") << "whose kernels overtake each other";
  other = usual;
  other.shared_memory_bytes = 64u << 20;
  expect_none(other, "/dev/shm");
  other = usual;
  other.captures_graphs = true;
  expect_none(other, "graphs");
  other = usual;
  other.interface = 4;
  expect_none(other, "2.27");
  other = usual;
  other.chosen = false;
  expect_none(other, kKernelEventsVariable);
  other = {4, 64u << 20, true, 1, true, false, true};
  EXPECT_EQ(why_no_kernel_events(other), "") << "chosen";
  other = usual;
  other.interface = 7;
  EXPECT_TRUE(wanted_events(other) & static_cast<int>(kKernelPhase));
  other.transport_is_known = true;
  EXPECT_FALSE(wanted_events(other) & static_cast<int>(kNetPlugin));
  other = usual;
  other.shared_memory_bytes = 0;  // not known
  EXPECT_EQ(why_no_kernel_events(other), "");
}

/// As where /dev/shm is small.
class NcclDriverWithoutKernels : public NcclDriver {
 protected:
  NcclDriverWithoutKernels() { ::setenv(kKernelEventsVariable, "0", 1); }
};

TEST_F(NcclDriverWithoutKernels, AnOperationIsKnownByItsEnqueueing) {
  Comm5 comm(version_5(), 0x31, 4, 0);
  EXPECT_EQ(comm.mask & kKernels, 0);
  const std::int64_t begin_ns = now_ns();
  comm.stop(comm.coll("AllReduce", 3, 1'000, 8));
  comm.finalize();
  const Recorded all = recorded();
  ASSERT_EQ(all.events.size(), 1u);
  EXPECT_EQ(all.events[0].duration_ns(), 0);
  EXPECT_GE(all.events[0].begin_ns, begin_ns);
  EXPECT_EQ(all.events[0].bytes, 4'000u);
  EXPECT_EQ(all.names[0], (NcclEvent{"all_reduce", "RING", "LL128", 8, ""}));
  EXPECT_EQ(all.counters.at("nccl.unfinished"), 0);
  EXPECT_EQ(all.counters.at("nccl.untimed"), 1);
}

TEST_F(NcclDriverWithoutKernels, TheNewestCollectiveIsUnderWayUntilTheNextOne) {
  auto& v5 = version_5();
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("DDBENCH_SPOOL", (directory_.path() / "rank1").c_str(), 1);
    ::setenv("DDBENCH_RUN_ID", "test", 1);
    ::setenv("DDBENCH_RANK", "1", 1);
    Comm5 comm(v5, 0xA2, 4, 3);
    for (const std::uint64_t sequence : {0, 1}) comm.stop(comm.coll("AllReduce", sequence, 10, 1));
    ::_exit(0);  // as a rank that is killed in the second one
  }
  ::waitpid(child, nullptr, 0);
  const auto flight = host::parse_flight(host::flight_bytes(directory_.path() / ("rank1." + std::to_string(child) + ".flight")));
  ASSERT_TRUE(flight);
  ASSERT_EQ(flight->operations.size(), 2u);
  EXPECT_GT(flight->operations[0].end_ns, 0);
  EXPECT_TRUE(flight->operations[1].end_ns == 0 && flight->operations[1].end_is_unknown);
}

TEST_F(NcclDriverWithoutKernels, OperationsOfOneLaunchBeginTogether) {
  Comm5 comm(version_5(), 0x32, 4, 0);
  const auto launch = [&](std::uint64_t first) {
    EventV5 group{};
    group.type = kGroup;
    void* const handle = comm.start(group);
    for (std::uint64_t sequence = first; sequence < first + 3; ++sequence) {
      EventV5 event{};
      event.type = kColl;
      event.coll.seqNumber = sequence;
      event.coll.func = "AllGather";
      event.coll.count = 10;
      event.coll.datatype = "ncclFloat32";
      event.coll.parentGroup = handle;
      comm.stop(comm.start(event));
    }
    comm.stop(handle);
  };
  launch(0);
  launch(3);
  comm.finalize();
  const Recorded all = recorded();
  ASSERT_EQ(all.events.size(), 6u);
  EXPECT_EQ(all.events[0].begin_ns, all.events[2].begin_ns);
  EXPECT_EQ(all.events[3].begin_ns, all.events[5].begin_ns);
  EXPECT_LT(all.events[2].begin_ns, all.events[3].begin_ns);
}

TEST_F(NcclDriverWithoutKernels, WhereCuptiRecordsTheKernelsNoTimeIsMissing) {
  inject::note_kernels_recorded(true);
  Comm5 comm(version_5(), 0x33, 4, 0);
  EXPECT_EQ(comm.mask & kKernels, 0);
  comm.stop(comm.coll("AllReduce", 0, 10, 2));
  comm.finalize();
  inject::note_kernels_recorded(false);
  const Recorded all = recorded();
  EXPECT_EQ(all.events.size(), 1u);
  EXPECT_EQ(all.counters.at("nccl.untimed"), 0) << "the kernel's times are those of the collective";
}

TEST_F(NcclDriver, WhereCuptiRecordsTheKernelsOfOneCommunicatorTheyAreNotAskedFor) {
  if (shared_memory_bytes() <= (64u << 20)) GTEST_SKIP() << "/dev/shm is too small to ask for kernels at all";
  ::unsetenv(kKernelEventsVariable);
  inject::note_kernels_recorded(true);
  Comm5 first(version_5(), 0x41, 4, 0);
  EXPECT_EQ(first.mask & kKernels, 0);
  first.stop(first.coll("AllReduce", 0, 10, 2));
  {
    Comm5 alone(version_5(), 0x42, 1, 0);
    EXPECT_EQ(alone.mask & kKernels, 0) << "a world of one has no kernels of NCCL";
    alone.finalize();
  }
  Comm5 second(version_5(), 0x43, 2, 0);
  EXPECT_NE(second.mask & static_cast<int>(kKernelCh), 0) << "which kernel is whose is seen by their times";
  second.finalize();
  first.finalize();
  inject::note_kernels_recorded(false);
  const Recorded all = recorded();
  EXPECT_EQ(all.counters.at("nccl.untimed"), 0);
  EXPECT_EQ(all.counters.at("nccl.unfinished"), 0);
}

TEST_F(NcclDriver, AfterACapturedCollectiveNoMoreKernelsAreAskedFor) {
  if (shared_memory_bytes() <= (64u << 20)) GTEST_SKIP() << "/dev/shm is too small to ask for kernels at all";
  const pid_t child = ::fork();
  if (child == 0) {
    inject::adopt_recorder(nullptr);
    ::unsetenv(kKernelEventsVariable);
    Comm5 comm(version_5(), 0x34, 2, 0);
    const bool before = (comm.mask & static_cast<int>(kKernelCh)) != 0;
    EventV5 api{};
    api.type = kCollApi;
    api.collApi.graphCaptured = true;
    comm.stop(comm.start(api));
    std::_Exit(before && (comm.mask & kKernels) == 0 && (comm.mask & static_cast<int>(kColl)) != 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

/// NCCL counts channels of a send that it never starts, where their part is empty.
TEST_F(NcclDriver, ASendOfWhichAPartIsEmptyEndsWhenALaterOneHas) {
  Comm5 comm(version_5(), 0x35, 2, 0);
  const auto send = [&](std::uint8_t channels) {
    EventV5 event{};
    event.type = kP2p;
    event.p2p = {"Send", nullptr, "ncclFloat32", 100, 1, channels, nullptr};
    void* const handle = comm.start(event);
    comm.stop(handle);
    return handle;
  };
  for (int call = 0; call < 3; ++call) {
    void* const partly_empty = send(4);
    comm.end_channel(comm.channel(partly_empty, 0, timer()), timer());
    void* const next = send(1);
    EXPECT_NE(comm.channel(partly_empty, 1, timer()), nullptr) << "it may have come late";
    comm.end_channel(comm.channel(next, 0, timer()), timer());
  }
  recorder_.flush();
  inject::conclude_nccl_events();
  comm.finalize();
  const Recorded all = recorded();
  EXPECT_EQ(all.events.size(), 6u);
  EXPECT_EQ(all.counters.at("nccl.unfinished"), 3) << "whose second channel never ended";
}

TEST_F(NcclDriver, OfOneLaunchNoneEndsAnother) {
  Comm5 comm(version_5(), 0x36, 3, 0);
  EventV5 group{};
  group.type = kGroup;
  EventV5 event{};
  event.type = kP2p;
  event.p2p = {"Send", nullptr, "ncclFloat32", 100, 1, 2, comm.start(group)};
  void* const first = comm.start(event);
  comm.stop(first);
  event.p2p.peer = 2;
  void* const second = comm.start(event);
  comm.stop(second);
  comm.end_channel(comm.channel(first, 0, timer()), timer());
  for (std::uint8_t number = 0; number < 2; ++number)
    comm.end_channel(comm.channel(second, number, timer()), timer());
  void* const late = comm.channel(first, 1, timer());
  EXPECT_NE(late, nullptr) << "they run side by side";
  comm.end_channel(late, timer());
  comm.finalize();
  const Recorded all = recorded();
  EXPECT_EQ(all.events.size(), 2u);
  EXPECT_EQ(all.names[1].channels, 2);
  EXPECT_EQ(all.counters.at("nccl.unfinished"), 0);
}

TEST_F(NcclDriver, ASkippedPartLeavesNothingUnfinished) {
  Comm5 comm(version_5(), 0x37, 2, 0);
  for (std::uint64_t call = 0; call < 100; ++call) {
    EventV5 event{};
    event.type = kP2p;
    event.p2p = {"Recv", nullptr, "ncclFloat32", 3, 1, 8, nullptr};
    void* const receive = comm.start(event);
    comm.stop(receive);
    comm.end_channel(comm.channel(receive, 0, timer()), timer());
    whole(comm, "AllReduce", call, 10, 2);
  }
  comm.finalize();
  const Recorded all = recorded();
  EXPECT_EQ(all.events.size(), 200u);
  EXPECT_EQ(all.counters.at("nccl.unfinished"), 0);
}

TEST_F(NcclDriver, Version3DoesNotShowOfHowManyRanksTheBytesAre) {
  auto& v3 = plugin<PluginV3>("ncclProfiler_v3");
  void* context = nullptr;
  v3.init(&context, &event_mask);
  const auto call = [&](const char* function) {
    EventV3 event{};
    event.type = kColl;
    event.coll.commHash = 0x98;
    event.coll.func = function;
    event.coll.count = 25;
    event.coll.datatype = "ncclFloat32";
    void* coll = nullptr;
    v3.startEvent(context, &coll, &event);
    v3.stopEvent(coll);
    EventV3 kernel{};
    kernel.type = kKernelCh;
    kernel.parentObj = coll;
    void* channel = nullptr;
    v3.startEvent(context, &channel, &kernel);
    v3.stopEvent(channel);
  };
  for (const char* const function : {"AllGather", "ReduceScatter", "AllReduce"}) call(function);
  v3.finalize(context);
  const Recorded all = recorded();
  ASSERT_EQ(all.events.size(), 3u);
  EXPECT_EQ(all.events[0].bytes, 0u) << "not those of one rank";
  EXPECT_EQ(all.events[1].bytes, 0u);
  EXPECT_EQ(all.events[2].bytes, 100u);
  EXPECT_EQ(all.counters.at("nccl.unknown_bytes"), 2);
}

/// 2.31: one channel had all ranks after 300 and the other one after 500 ns.
TEST_F(NcclDriver, Version7SplitsASymmetricKernel) {
  Comm7 comm(plugin<PluginV7>("ncclProfiler_v7"), 0x38, 4, 0);
  EXPECT_TRUE(comm.mask & static_cast<int>(kKernelPhase));
  EventV7 event{};
  event.type = kColl;
  event.coll.func = "AllReduce";
  event.coll.count = 1'000;
  event.coll.datatype = "ncclFloat32";
  event.coll.nChannels = 2;
  event.coll.algo = "LL";
  event.coll.proto = "";
  event.coll.isSymColl = true;
  void* const coll = comm.start(event);
  comm.stop(coll);
  const std::uint64_t begin = timer(10'000'000);  // the clock of the process has seen timers that were ahead
  const auto channel = [&](std::uint8_t number, std::uint64_t synced) {
    void* const handle = comm.channel(coll, number, begin);
    const std::uint64_t borders[] = {begin, begin + synced, begin + 1'700, begin + 2'000};
    for (std::uint8_t phase = 0; phase < 3; ++phase) {
      EventV7 part{};
      part.type = kKernelPhase;
      part.parentObj = handle;
      part.kernelPhase = {number, phase, "phase", borders[phase]};
      void* const part_handle = comm.start(part);
      StateArgs state{};
      state.kernelCh.pTimer = borders[phase + 1];
      plugin<PluginV7>("ncclProfiler_v7").recordEventState(part_handle, kStateKernelPhaseStop, &state);
      comm.stop(part_handle);
    }
    comm.end_channel(handle, begin + 2'000);
  };
  channel(0, 300);
  channel(1, 500);
  event.coll.nChannels = 0;  // another collective of the same kernel
  comm.stop(comm.start(event));
  comm.finalize();
  const Recorded all = recorded();
  ASSERT_EQ(all.events.size(), 2u);
  ASSERT_EQ(all.waits.size(), 1u) << "of the first";
  EXPECT_EQ(all.waits[0].duration_ns(), 500);
  EXPECT_EQ(all.waits[0].begin_ns, all.events[0].begin_ns);
  EXPECT_EQ(all.waits[0].correlation, all.events[0].correlation);
  EXPECT_EQ(all.events[0].duration_ns(), 2'000);
  EXPECT_EQ(all.names[0], (NcclEvent{"all_reduce", "LL", "", 2, "direct"}));
  EXPECT_EQ(all.counters.at("nccl.unfinished"), 0);
  EXPECT_EQ(all.counters.at("nccl.unpaired"), 0);
  EXPECT_EQ(all.counters.at("nccl.with_phases"), 1);
  EXPECT_EQ(all.counters.at("nccl.initial_sync_ns"), 500) << "until the last channel had all ranks";
  EXPECT_EQ(all.counters.at("nccl.final_sync_ns"), 300);
}

}  // namespace
}  // namespace ddbench::nccl
