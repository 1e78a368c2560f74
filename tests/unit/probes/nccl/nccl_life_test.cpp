// What NCCL does with its operations, as its source has it (2.26 to 2.30): when they end, when their timers
// are another's, and how they come out of graphs.
#include <sys/wait.h>

#include <cstdlib>
#include <thread>

#include "nccl_driver.h"
#include "probes/preload/session/nccl_plugin.h"
#include "probes/preload/session/thread_range.h"
#include "probes/recorder/flight_ring.h"

namespace ddbench::nccl {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

/// The handle of a call within a stream capture; NCCL starts no operation for it.
void* captured_call(Comm5& comm) {
  EventV5 api{};
  api.type = kCollApi;
  api.collApi.graphCaptured = true;
  void* const handle = comm.start(api);
  comm.stop(handle);
  return handle;
}

/// hostStreamPlanCallback(): on CUDA's thread, with a count of works that may have fallen behind.
void replay(Comm5& comm, void* call, std::uint64_t sequence, std::uint64_t timer) {
  std::thread([&] {
    void* const coll = comm.coll("AllReduce", sequence, 10, 1, call);
    void* const channel = comm.channel(coll, 0, timer);
    comm.stop(coll);
    comm.end_channel(channel, timer);
  }).join();
}

TEST_F(NcclDriver, EachReplayOfAGraphIsACollectiveWithNoTimesOfItsOwn) {
  Comm5 comm(version_5(), 6, 2, 0);
  const std::uint64_t first_slot = timer(-50 * kMillisecond);
  whole(comm, "AllReduce", 0, 10, 1);
  inject::push_thread_range({SpanKind::kCommunication, 12, 3, 4096, collective_key(1, 99)});
  void* const call = captured_call(comm);
  const std::int64_t begin_ns = now_ns();
  for (std::uint64_t sequence = 1; sequence <= 3; ++sequence) replay(comm, call, sequence, first_slot);
  inject::pop_thread_range();
  comm.finalize();
  const Recorded all = recorded();
  ASSERT_EQ(all.events.size(), 4u);
  for (std::uint64_t replayed = 1; replayed <= 3; ++replayed) {
    const Span& span = all.events[replayed];
    EXPECT_EQ(span.correlation, collective_key(6, nccl_sequence(1, replayed))) << "not the range's of others";
    EXPECT_EQ(span.step, kNoStep);
    EXPECT_EQ(span.duration_ns(), 0);
    EXPECT_GE(span.begin_ns, begin_ns);
  }
  EXPECT_EQ(all.counters.at("nccl.untimed"), 3);
  EXPECT_EQ(all.counters.at("nccl.unfinished"), 0);
}

TEST_F(NcclDriver, ACapturedSendHasNoTimesOfItsOwnEither) {
  Comm5 comm(version_5(), 14, 2, 0);
  EventV5 api{};
  api.type = kP2pApi;
  api.p2pApi.graphCaptured = true;
  void* const call = comm.start(api);
  comm.stop(call);
  EventV5 event{};
  event.type = kP2p;
  event.parentObj = call;
  event.p2p = {"Send", nullptr, "ncclFloat32", 10, 1, 1, nullptr};
  const std::int64_t begin_ns = now_ns();
  void* const send = comm.start(event);
  const std::int64_t enqueued_ns = now_ns();
  void* const channel = comm.channel(send, 0, timer(50 * kMillisecond));
  comm.stop(send);
  comm.end_channel(channel, timer(60 * kMillisecond));
  comm.finalize();
  const Recorded all = recorded();
  ASSERT_EQ(all.events.size(), 1u);
  EXPECT_EQ(all.events[0].duration_ns(), 0);
  EXPECT_GE(all.events[0].begin_ns, begin_ns);
  EXPECT_LE(all.events[0].begin_ns, enqueued_ns) << "the timer is another work's";
  EXPECT_EQ(all.counters.at("nccl.untimed"), 1);
}

TEST_F(NcclDriver, ATimerOfAnEarlierWorkIsNotTheOperations) {
  Comm5 comm(version_5(), 13, 2, 0);
  whole(comm, "AllReduce", 0, 10, 1);
  const std::uint64_t earlier = timer(-50 * kMillisecond);
  const std::int64_t begin_ns = now_ns();
  void* const behind = comm.coll("AllReduce", 1, 10, 1);
  const std::int64_t enqueued_ns = now_ns();
  comm.stop(behind);
  comm.end_channel(comm.channel(behind, 0, earlier), earlier + 10'000'000);
  whole(comm, "AllReduce", 2, 10, 1);
  const std::int64_t end_ns = now_ns();
  comm.finalize();
  const Recorded all = recorded();
  ASSERT_EQ(all.events.size(), 3u);
  EXPECT_EQ(all.events[1].duration_ns(), 0);
  EXPECT_GE(all.events[1].begin_ns, begin_ns);
  EXPECT_LE(all.events[1].begin_ns, enqueued_ns);
  EXPECT_LE(all.events[2].end_ns, end_ns) << "the clock did not learn from it";
  EXPECT_EQ(all.counters.at("nccl.untimed"), 1);
}

TEST_F(NcclDriver, NcclReportsOfAnOperationOnceItsKernelIsLaunched) {
  Comm5 comm(version_5(), 14, 2, 0);
  whole(comm, "AllReduce", 0, 10, 1);
  void* const coll = comm.coll("AllReduce", 1, 10, 1);
  const std::uint64_t begin = timer(-50'000);
  comm.stop(coll);
  comm.end_channel(comm.channel(coll, 0, begin), begin + 40'000);
  comm.finalize();
  const Recorded all = recorded();
  ASSERT_EQ(all.events.size(), 2u);
  EXPECT_EQ(all.events[1].duration_ns(), 40'000);
  EXPECT_EQ(all.counters.at("nccl.untimed"), 0);
}

TEST_F(NcclDriver, TheEnginesRecorderEndsBeforeItsCommunicator) {
  Comm5 comm(version_5(), 15, 2, 0);
  whole(comm, "AllReduce", 0, 10, 1);
  void* const under_way = comm.coll("AllReduce", 1, 10, 2);
  comm.stop(under_way);
  comm.end_channel(comm.channel(under_way, 0, timer()), timer());
  inject::conclude_nccl_events();
  const Recorded all = recorded();
  comm.finalize();
  EXPECT_EQ(all.events.size(), 2u);
  EXPECT_EQ(all.counters.at("nccl.events"), 2);
  EXPECT_EQ(all.counters.at("nccl.unfinished"), 1);
}

/// NCCL's proxy thread polls: the GPU was waited for before.
TEST_F(NcclDriver, APauseAndTheEndWaitForWhatTheGpuHasDoneToBeReported) {
  Comm5 comm(version_5(), 17, 2, 0);
  for (const bool pauses : {true, false}) {
    void* const coll = comm.coll("AllReduce", pauses ? 0 : 1, 10, 1);
    comm.stop(coll);
    const std::int64_t asked_ns = now_ns();
    std::int64_t recorded_ns = 0;
    std::thread proxy([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      const std::uint64_t begin = timer(-4 * kMillisecond);
      comm.end_channel(comm.channel(coll, 0, begin), begin + 1'000'000);
      recorded_ns = now_ns();
    });
    pauses ? inject::pause_nccl_events(true) : inject::conclude_nccl_events();
    recorder_.flush();
    recorder_.set_enabled(false);  // a probe-off window begins, or the end
    proxy.join();
    recorder_.set_enabled(true);
    if (recorded_ns - asked_ns > 15 * kMillisecond) {  // the plug-in waits for 20 ms
      inject::pause_nccl_events(false);
      comm.finalize();
      GTEST_SKIP() << "not measured: machine busy";
    }
    EXPECT_EQ(comm.mask == 0, pauses);
    inject::pause_nccl_events(false);
  }
  comm.stop(comm.coll("AllReduce", 2, 10, 1));  // for which nothing is reported
  inject::pause_nccl_events(true);
  inject::pause_nccl_events(false);
  comm.finalize();
  const Recorded all = recorded();
  EXPECT_EQ(all.events.size(), 2u);
  EXPECT_EQ(all.counters.at("nccl.unfinished"), 1);
}

TEST_F(NcclDriver, AProgramThatEndsWithItsCommunicatorsReportedAll) {
  PluginV5& v5 = version_5();
  host::SpoolReader reader(spool_of_program([&v5] {
    Comm5 comm(v5, 16, 2, 1);
    whole(comm, "AllReduce", 0, 1, 1);
  }));
  const host::SpoolBatch batch = reader.read();
  EXPECT_TRUE(batch.ended);
  EXPECT_EQ(batch.spans.size(), 2u) << "it, and when it was enqueued";
  bool seen = false;
  for (const host::Scalar& scalar : batch.scalars) {
    seen |= batch.new_names.at(scalar.name_id) == "nccl.events" && scalar.value > 0;
  }
  EXPECT_TRUE(seen);
}

/// The names of the spools of a run's processes; the test's own process has another one in the same folder.
std::vector<std::string> spools_of_run(const std::filesystem::path& run) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(run)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("node0.") && name.ends_with(".spool")) found.push_back(name);
  }
  return found;
}

/// A process of a run that works in another folder than the run's, in which `body` records through NCCL alone.
template <typename Body>
pid_t process_of_run(host::Recorder& of_parent, const std::filesystem::path& run, const std::filesystem::path& works_in,
                     const Body& body) {
  of_parent.flush();  // in the child, what its drain thread holds leaks
  const pid_t child = ::fork();
  if (child == 0) {
    for (const char* variable : {"DDBENCH_RANK", "RANK", "LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) ::unsetenv(variable);
    ::unsetenv("DDBENCH_SPOOL_DIR");
    ::setenv("DDBENCH_SPOOL", (run / "node0").c_str(), 1);
    ::setenv("DDBENCH_RUN_ID", "test", 1);
    std::filesystem::current_path(works_in);
    body();
    std::exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return child;
}

TEST_F(NcclDriver, BehindTheEndOfTheWindowThereIsNoOtherSpool) {
  auto& v5 = version_5();
  const testing::TempDirectory elsewhere;
  const pid_t child = process_of_run(recorder_, directory_.path(), elsewhere.path(), [&v5] {
    ::setenv("DDBENCH_RANK", "1", 1);
    Comm5 comm(v5, 0xA2, 2, 1);
    whole(comm, "AllReduce", 0, 1, 1);
    inject::end_recording();
    whole(comm, "AllReduce", 1, 1, 1);
    Comm5 later(v5, 0xA3, 2, 1);
    if (comm.mask != 0 || later.mask != 0) ::_exit(7);  // what follows costs the program nothing
    whole(later, "AllReduce", 0, 1, 1);
    const pid_t forked = ::fork();
    if (forked == 0) {
      Comm5 of_child(v5, 0xA5, 2, 1);
      whole(of_child, "AllReduce", 0, 1, 1);
      ::_exit(0);
    }
    ::waitpid(forked, nullptr, 0);
  });
  EXPECT_EQ(spools_of_run(directory_.path()), std::vector<std::string>{"node0." + std::to_string(child) + ".spool"});
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere.path()));
  const host::SpoolBatch batch = host::SpoolReader(directory_.path() / ("node0." + std::to_string(child) + ".spool")).read();
  EXPECT_TRUE(batch.ended);
  EXPECT_EQ(batch.spans.size(), 2u) << "the first collective, and when it was enqueued";
}

TEST_F(NcclDriver, AProcessOfARunThatHasNoRankHasThatOfNcclAndTheRunsSpool) {
  auto& v5 = version_5();
  const testing::TempDirectory elsewhere;
  const pid_t child = process_of_run(recorder_, directory_.path(), elsewhere.path(), [&v5] {
    Comm5 comm(v5, 0xA4, 8, 5);
    whole(comm, "AllReduce", 0, 1, 1);
  });
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere.path())) << "the user's";
  const host::SpoolReader reader(directory_.path() / ("node0." + std::to_string(child) + ".spool"));
  EXPECT_EQ(reader.rank(), 5);
  EXPECT_EQ(reader.run_id(), "test");
}

TEST_F(NcclDriver, TheLastCollectivesOfAProgramAreKeptWhileItRuns) {
  auto& v5 = version_5();
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("DDBENCH_SPOOL", (directory_.path() / "rank1").c_str(), 1);
    ::setenv("DDBENCH_RUN_ID", "test", 1);
    ::setenv("DDBENCH_RANK", "1", 1);
    Comm5 comm(v5, 0xA1, 4, 3);
    whole(comm, "AllReduce", 0, 10, 1);
    void* const enqueued = comm.coll("AllReduce", 1, 10, 1);
    comm.channel(enqueued, 0, timer(0));
    comm.stop(enqueued);
    ::_exit(0);  // as a rank that is killed in it
  }
  ::waitpid(child, nullptr, 0);
  const auto flight = host::parse_flight(host::flight_bytes(directory_.path() / ("rank1." + std::to_string(child) + ".flight")));
  ASSERT_TRUE(flight);
  EXPECT_EQ(flight->place, (WorldPlace{3, 4}));
  EXPECT_EQ(flight->sizes.at(fold_communicator(0xA1)), 4u);
  ASSERT_EQ(flight->operations.size(), 2u);
  EXPECT_EQ(flight->operations[0].name, "nccl:all_reduce");
  EXPECT_EQ(flight->operations[0].correlation, collective_key(fold_communicator(0xA1), 1));
  EXPECT_GT(flight->operations[0].end_ns, 0);
  EXPECT_EQ(flight->operations[1].correlation, collective_key(fold_communicator(0xA1), 2));
  EXPECT_TRUE(flight->operations[1].is_inside()) << "its channel has not ended";
}

TEST_F(NcclDriver, NothingIsWantedOfWhatTheEngineCaptures) {
  Comm5 comm(version_5(), 17, 2, 0);
  const int wanted = comm.mask;
  EXPECT_NE(wanted, 0);
  inject::pause_nccl_events(true);
  EXPECT_EQ(comm.mask, 0);
  {
    Comm5 split(version_5(), 18, 2, 0);
    EXPECT_EQ(split.mask, 0);
    inject::pause_nccl_events(false);
    EXPECT_EQ(split.mask, wanted) << "NCCL has one mask; its place is passed each time";
    split.finalize();
  }
  comm.finalize();
}

TEST_F(NcclDriver, WhatARankSendsToItselfIsNoOperation) {
  Comm5 comm(version_5(), 19, 2, 1);
  EXPECT_EQ(comm.p2p("Send", 1, 1), nullptr);
  void* const send = comm.p2p("Send", 1, 0);
  ASSERT_NE(send, nullptr);
  comm.stop(send);
  comm.end_channel(comm.channel(send, 0, timer()), timer());
  comm.finalize();
  const Recorded all = recorded();
  EXPECT_EQ(all.events.size(), 1u);
  EXPECT_EQ(all.counters.at("nccl.unfinished"), 0);
}

TEST_F(NcclDriver, AnOperationOfUnknownChannelsIsOverWhenTheNextBegins) {
  Comm5 comm(version_5(), 20, 2, 0);
  void* const sharp =
      comm.coll("AllReduce", 0, 10, 0);  // CollNet: no count, and proxies that are never stopped
  void* const proxy = comm.proxy(sharp, ::getpid());
  comm.stop(sharp);
  for (std::uint8_t channel = 0; channel < 2; ++channel)
    comm.end_channel(comm.channel(sharp, channel, timer()), timer());
  void* const next = comm.coll("AllReduce", 1, 10, 1);
  comm.stop(next);
  void* const channel = comm.channel(next, 0, timer());
  comm.stop(proxy);                                     // late, and no harm
  EXPECT_EQ(comm.channel(sharp, 2, timer()), nullptr);  // later than its successor's
  comm.end_channel(channel, timer());
  comm.finalize();
  const Recorded all = recorded();
  ASSERT_EQ(all.events.size(), 2u);
  EXPECT_EQ(all.names[0].channels, 2);
  EXPECT_EQ(all.counters.at("nccl.unfinished"), 0);
  EXPECT_EQ(all.counters.at("nccl.unpaired"), 1);
}

TEST_F(NcclDriver, ACommunicatorsEndIsNotThatOfItsOtherRanks) {
  Comm5 first(version_5(), 21, 2, 0);  // two GPUs of one process
  Comm5 second(version_5(), 21, 2, 1);
  void* const coll = second.coll("AllReduce", 0, 10, 1);
  second.stop(coll);
  first.finalize();
  second.end_channel(second.channel(coll, 0, timer()), timer());
  second.finalize();
  const Recorded all = recorded();
  EXPECT_EQ(all.events.size(), 1u);
  EXPECT_EQ(all.counters.at("nccl.unfinished"), 0);
}

TEST_F(NcclDriver, ManyOperationsWithoutEventsOfTheNetworkEndTheSearchForTheTransport) {
  // In a process of its own: the search is the process's.
  const pid_t child = ::fork();
  if (child == 0) {
    inject::adopt_recorder(nullptr);
    Comm5 comm(version_5(), 22, 2, 0);
    int asked = 0;
    for (std::uint64_t sequence = 0; sequence < 100; ++sequence) {
      asked += (comm.mask & static_cast<int>(kProxyStep)) != 0;
      void* const coll = comm.coll("AllReduce", sequence, 10, 1);
      comm.proxy(coll, ::getpid());
      comm.stop(coll);
      comm.end_channel(comm.channel(coll, 0, timer()), timer());
    }
    const bool still_followed = (comm.mask & static_cast<int>(kColl)) != 0;
    std::_Exit(asked >= 8 && asked <= 32 && still_followed ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

/// 2.26: only KernelCh shows which channels an operation has, and contexts do not show their communicator.
class NcclDriverOfVersion3 : public NcclDriver {
 protected:
  void* open() {
    void* context = nullptr;
    v3_.init(&context, &event_mask);
    return context;
  }
  void* start(void* context, EventV3 event) {
    void* handle = nullptr;
    v3_.startEvent(context, &handle, &event);
    return handle;
  }
  void* coll(void* context, std::uint64_t communicator, std::uint64_t sequence) {
    EventV3 event{};
    event.type = kColl;
    event.coll.commHash = communicator;
    event.coll.seqNumber = sequence;
    event.coll.func = "AllReduce";
    event.coll.count = 25;
    event.coll.datatype = "ncclFloat32";
    event.coll.nMaxChannels = 8;
    void* const handle = start(context, event);
    v3_.stopEvent(handle);
    return handle;
  }
  void* channel(void* context, void* parent) {
    EventV3 event{};
    event.type = kKernelCh;
    event.parentObj = parent;
    return start(context, event);
  }

  PluginV3& v3_ = plugin<PluginV3>("ncclProfiler_v3");
};

TEST_F(NcclDriverOfVersion3, OperationsEndWithTheNextOrWithTheLastCommunicator) {
  void* const first = open();
  void* const second = open();
  void* const done = coll(first, 0xA, 0);
  for (int used = 0; used < 3; ++used) v3_.stopEvent(channel(first, done));
  void* const other = coll(second, 0xB, 0);
  void* const other_channel = channel(second, other);
  v3_.finalize(first);
  v3_.stopEvent(other_channel);
  void* const last = coll(second, 0xB, 1);
  v3_.stopEvent(channel(second, last));
  EXPECT_EQ(channel(second, other), nullptr) << "its successor has begun";
  v3_.finalize(second);
  const Recorded all = recorded();
  ASSERT_EQ(all.events.size(), 3u);
  EXPECT_EQ(all.events[0].correlation >> 48, 0xBu);
  EXPECT_EQ(all.counters.at("nccl.unfinished"), 0);
  EXPECT_EQ(all.counters.at("nccl.untimed"), 0) << "its callbacks are all that version 3 has";
}

}  // namespace
}  // namespace ddbench::nccl
