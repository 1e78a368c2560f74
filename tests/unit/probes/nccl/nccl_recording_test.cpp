// What NCCL calls of the profiler plug-in, written to a file and called again (tests/support/nccl_recorder).
// Each program is a process of its own: what the plug-in learns of a GPU's clock is the process's.
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <thread>

#include "held_clock.h"
#include "nccl_script.h"
#include "nccl_truth.h"
#include "probes/preload/session/nccl_plugin.h"
#include "replay.h"

namespace ddbench::nccl {
namespace {

using nccl_recorder::Recording;

/// What a program wrote into its spool.
struct Recorded {
  using Row =
      std::tuple<std::string, std::int64_t, std::int64_t, std::uint64_t, std::uint64_t, std::uint32_t>;
  std::vector<Row> events;  ///< name, begin, end, key, bytes, step; in their order
  std::vector<Row> waits;  ///< likewise, for the last rank: of version 7
  std::vector<Row> host;
  std::map<std::string, double> counters;
};

class NcclRecording : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return directory_.path() / "run.jsonl"; }

  /// A process that does what `body` does and records into a spool. `ends` is how.
  template <typename Body>
  Recorded recorded_by(const Body& body, int ends = 0) {
    const std::filesystem::path spool = directory_.path() / ("spool" + std::to_string(programs_++));
    const pid_t child = ::fork();
    if (child == 0) {
      ::setenv(kKernelEventsVariable, "1", 1);  // whatever the size of /dev/shm, and in 2.27, too
      std::exit(run(spool, body));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, ends);
    return read(spool);
  }
  /// NCCL with the recorder, which calls the plug-in beside it.
  template <typename Body>
  Recorded recorded(const Body& body, int ends = 0) {
    return recorded_by(
        [&] {
          ::setenv(nccl_recorder::kRecordingVariable, file().c_str(), 1);
          body();
        },
        ends);
  }
  Recorded replayed(const Recording& recording) {
    return recorded_by([&] { nccl_recorder::replay(recording, module_file("ddbench_nccl_profiler.so")); });
  }
  std::string error_of(const std::string& text) const {
    const std::filesystem::path broken = directory_.write("broken.jsonl", text);
    try {
      const Recording recording(broken);
    } catch (const std::runtime_error& error) {
      const std::string what = error.what();
      EXPECT_TRUE(what.starts_with(broken.string() + ":")) << what;
      return what.substr(broken.string().size() + 1);
    }
    return "none";
  }

  testing::TempDirectory directory_;

 private:
  template <typename Body>
  static int run(const std::filesystem::path& spool, const Body& body) try {
    host::Recorder recorder({spool, 1u << 18, 0, "test"});
    inject::adopt_recorder(&recorder);
    body();
    nccl_recorder::hold_clock(0);
    inject::conclude_nccl_events();  // what ends without its communicators
    recorder.stop();
    inject::adopt_recorder(nullptr);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }

  static Recorded read(const std::filesystem::path& spool) {
    const host::SpoolBatch batch = host::SpoolReader(spool).read();
    EXPECT_EQ(batch.dropped, 0u);
    Recorded spans;
    for (const Span& span : batch.spans) {
      const std::string& name = batch.new_names.at(span.name_id);
      (span.kind != SpanKind::kNcclEvent ? spans.host : name == kNcclInitialSync ? spans.waits : spans.events)
          .emplace_back(name, span.begin_ns, span.end_ns, span.correlation, span.bytes, span.step);
    }
    for (const host::Scalar& scalar : batch.scalars)
      spans.counters[batch.new_names.at(scalar.name_id)] = scalar.value;
    return spans;
  }

  int programs_ = 0;
};

void expect_times(const TrueOperation& truth, std::int64_t begin_ns, std::int64_t end_ns) {
  if (truth.captured || (truth.stale && begin_ns == end_ns)) {
    EXPECT_EQ(begin_ns, truth.enqueued_ns) << "no more is known of it";
    return;
  }
  EXPECT_EQ(end_ns - begin_ns, *truth.duration_ns);
  EXPECT_GE(begin_ns, truth.begin_ns);
  if (truth.timed) {
    EXPECT_LE(begin_ns, truth.latest_begin_ns) << "a late callback moved the GPU's clock";
  }
  EXPECT_LE(end_ns, truth.end_ns);
}

/// One span for each operation with a reported channel, and no other one.
void expect_events(const NcclTruth& truth, const Recorded& found) {
  using Key = std::tuple<std::string, std::uint64_t, std::uint64_t>;
  std::map<Key, std::deque<Recorded::Row>> spans;
  for (const Recorded::Row& row : found.events) {
    spans[{std::get<0>(row), std::get<3>(row), std::get<4>(row)}].push_back(row);
  }
  std::size_t wanted = 0;
  for (const TrueOperation& operation : truth.operations) {
    if (!operation.duration_ns) continue;
    ++wanted;
    const Key key(nccl_event_name(operation.event), operation.key, operation.bytes);
    SCOPED_TRACE(std::get<0>(key) + " of " + std::to_string(operation.bytes) + " bytes");
    auto& alike = spans[key];
    ASSERT_FALSE(alike.empty()) << "no span";
    expect_times(operation, std::get<1>(alike.front()), std::get<2>(alike.front()));
    alike.pop_front();
  }
  EXPECT_EQ(found.events.size(), wanted);
}

/// When operations were enqueued, and the calls: all of it by callbacks, to the nanosecond.
void expect_host_spans(const NcclTruth& truth, const Recorded& found) {
  std::vector<Recorded::Row> wanted;
  for (const auto& [name, begin_ns, end_ns] : truth.calls)
    wanted.emplace_back(name, begin_ns, end_ns, 0, 0, kNoStep);
  for (const TrueOperation& operation : truth.operations) {
    if (operation.captured || !operation.queued_ns) continue;
    wanted.emplace_back("nccl_enqueue", operation.enqueued_ns, *operation.queued_ns, operation.key,
                        operation.bytes, kNoStep);
  }
  std::vector<Recorded::Row> host = found.host;
  std::sort(host.begin(), host.end());
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(host, wanted);
}

void expect_waits_at_the_begin_of_events(const Recorded& found) {
  for (const Recorded::Row& wait : found.waits) {
    const auto event = std::find_if(found.events.begin(), found.events.end(), [&](const Recorded::Row& row) {
      return std::get<3>(row) == std::get<3>(wait) && std::get<1>(row) == std::get<1>(wait);
    });
    ASSERT_NE(event, found.events.end());
    EXPECT_GT(std::get<2>(wait), std::get<1>(wait));
    EXPECT_LE(std::get<2>(wait), std::get<2>(*event));
  }
}

void expect_recorded(const NcclTruth& truth, const Recorded& spans) {
  expect_events(truth, spans);
  expect_host_spans(truth, spans);
  EXPECT_EQ(spans.counters.at("nccl.events"), static_cast<double>(truth.operations.size()));
  EXPECT_EQ(spans.counters.at("nccl.unfinished"), truth.unfinished);
  EXPECT_EQ(spans.counters.at("nccl.unpaired"), truth.unpaired);
  EXPECT_EQ(spans.counters.at("nccl.foreign_proxies"), truth.foreign_proxies);
  EXPECT_EQ(spans.counters.at("nccl.unknown_functions"), 0);
  EXPECT_GE(spans.counters.at("nccl.untimed"), truth.captured);
  EXPECT_LE(spans.counters.at("nccl.untimed"), truth.captured + truth.stale);
}

template <int kVersion>
class NcclRecordingOf : public NcclRecording {
 protected:
  /// The plug-in reports the same for the script and for the recording, to the nanosecond.
  NcclTruth round_trip() {
    const Recorded live = recorded([] { NcclScript<kVersion>().run(); });
    const Recording recording(file());
    EXPECT_EQ(recording.threads(), 3u);
    const Recorded again = replayed(recording);
    EXPECT_EQ(again.events, live.events);
    EXPECT_EQ(again.waits, live.waits);
    EXPECT_EQ(again.host, live.host);
    EXPECT_EQ(again.counters, live.counters);
    const NcclTruth truth(recording);
    expect_recorded(truth, again);
    expect_waits_at_the_begin_of_events(again);
    EXPECT_EQ(again.waits.size(), kVersion >= 7 ? 1u : 0u);
    EXPECT_EQ(again.counters.at("nccl.untimed"), truth.captured + truth.stale);
    EXPECT_EQ(std::get<0>(live.events.at(0)), "nccl/all_reduce/RING/LL128/2/socket");
    return truth;
  }
};
using NcclRecordingOf3 = NcclRecordingOf<3>;
using NcclRecordingOf4 = NcclRecordingOf<4>;
using NcclRecordingOf5 = NcclRecordingOf<5>;
using NcclRecordingOf6 = NcclRecordingOf<6>;
using NcclRecordingOf7 = NcclRecordingOf<7>;

TEST_F(NcclRecordingOf3, ComesBackAsItWas) {
  const NcclTruth truth = round_trip();
  EXPECT_EQ(truth.operations.size(), 8u);
  EXPECT_EQ(truth.captured, 0);
  EXPECT_EQ(truth.unfinished, 1);
  EXPECT_EQ(truth.unpaired, 3);
  EXPECT_EQ(truth.foreign_proxies, 1);
}

TEST_F(NcclRecordingOf4, ComesBackAsItWas) {
  const NcclTruth truth = round_trip();
  EXPECT_EQ(truth.operations.size(), 8u);
  EXPECT_EQ(truth.captured, 0);
  EXPECT_EQ(truth.stale, 1);
  EXPECT_EQ(truth.unfinished, 1);
  EXPECT_EQ(truth.unpaired, 3);
}

TEST_F(NcclRecordingOf5, ComesBackAsItWas) {
  const NcclTruth truth = round_trip();
  EXPECT_EQ(truth.operations.size(), 11u);
  EXPECT_EQ(truth.captured, 3) << "replays of a graph";
  EXPECT_EQ(truth.stale, 1);
  EXPECT_EQ(truth.unfinished, 1);
  EXPECT_EQ(truth.unpaired, 3);
  EXPECT_EQ(truth.foreign_proxies, 1);
  EXPECT_EQ(truth.calls.size(), 2u);
}

TEST_F(NcclRecordingOf6, ComesBackAsItWas) {
  EXPECT_EQ(round_trip().operations.size(), 11u);
}

TEST_F(NcclRecordingOf7, ComesBackAsItWas) {
  EXPECT_EQ(round_trip().operations.size(), 11u);
  EXPECT_NE(testing::read_file(file()).find(R"("type":"KernelPhase")"), std::string::npos);
}

TEST_F(NcclRecordingOf5, HasEveryMemberByItsName) {
  recorded([] { NcclScript<5>().run(); });
  const std::string text = testing::read_file(file());
  EXPECT_TRUE(text.starts_with(
      std::string(nccl_recorder::kRecordingHead) +
      "\n"
      R"({"number":0,"time_ns":0,"thread":0,"version":5,"call":"init","result":0,"communicator":161,"name":"world",)"
      R"("nodes":1,"ranks":2,"rank":0,"mask":)"))
      << text.substr(0, 400);
  for (
      const char* const part :
      {R"("type":"Coll","parentObj":4,"rank":0,"seqNumber":0,"func":"AllReduce","sendBuff":"0x7f00","recvBuff":"0x7f08",)"
       R"("count":1000,"root":1,"datatype":"ncclFloat32","nChannels":2,"nWarps":16,"algo":"RING","proto":"LL128",)"
       R"("parentGroup":2,"returned":5})",
       R"("call":"recordEventState","result":0,"handle":6,"state":19,"argument":77})",
       R"("type":"ProxyOp","parentObj":"0x7fffdeadbee0","rank":0,"pid":"foreign","channelId":0,"peer":1,"nSteps":4,)"
       R"("chunkSize":512,"isSend":1,"returned":null})",
       R"("type":"CollApi","parentObj":1,"rank":0,"func":"AllReduce","count":1000,"datatype":"ncclFloat32","root":1,)"
       R"("stream":"0x55","graphCaptured":false,"returned":4})",
       R"("type":"P2pApi","parentObj":null,"rank":0,"func":"Send","count":1,"datatype":"ncclInt8","stream":null,)"
       R"("graphCaptured":false,"returned":32})",
       R"("type":"ProxyCtrl","parentObj":null,"rank":0,"returned":null})",
       R"("type":"CeColl","parentObj":null,"rank":0,"returned":null})"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST_F(NcclRecording, ThreadsMayCallAtOnce) {
  constexpr int kThreads = 4;
  constexpr std::uint64_t kEach = 50;
  recorded([] {
    auto& plugin = recorder_of<5>();
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&plugin, thread] {
        Comm5 comm(plugin, 100 + static_cast<std::uint64_t>(thread), 2, 0);
        for (std::uint64_t sequence = 0; sequence < kEach; ++sequence)
          whole(comm, "AllReduce", sequence, 10, 2);
        comm.finalize();
      });
    }
  });
  const Recording recording(file());
  EXPECT_EQ(recording.threads(), std::size_t{kThreads});
  EXPECT_TRUE(std::is_sorted(recording.calls().begin(), recording.calls().end(),
                             [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; }));
  const NcclTruth truth(recording);
  EXPECT_EQ(truth.operations.size(), kThreads * kEach);
  EXPECT_EQ(truth.unfinished + truth.unpaired + truth.captured, 0);
  expect_recorded(truth, replayed(recording));
}

TEST_F(NcclRecording, AFileOfAnotherProcessIsNotTouchedAndNothingElseChanges) {
  const std::filesystem::path others = directory_.write("run.jsonl", "of another rank");
  EXPECT_EQ(recorded([] { NcclScript<5>().run(); }).events.size(), 10u);
  EXPECT_EQ(testing::read_file(others), "of another rank");
  std::filesystem::remove(others);
  EXPECT_EQ(recorded_by([] { NcclScript<5>().run(); }).events.size(), 10u) << "nobody asks for a recording";
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(NcclRecording, WhatCannotBeWrittenEndsTheRecordingAndNothingElse) {
  const Recorded spans = recorded([] {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{8'000, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    NcclScript<5>().run();
    ::setrlimit(RLIMIT_FSIZE, &before);
  });
  EXPECT_EQ(spans.events.size(), 10u);
  EXPECT_EQ(std::filesystem::file_size(file()), 8'000u);
  EXPECT_GE(Recording(file()).calls().size(), 2u) << "the last line is cut short";
}

TEST_F(NcclRecording, OfAKilledProgramHasWholeLines) {
  recorded(
      [] {
        Comm5 comm(recorder_of<5>(), 1, 2, 0);
        whole(comm, "AllReduce", 0, 10, 1);
        comm.coll("AllReduce", 1, 10, 1);
        ::raise(SIGKILL);
      },
      SIGKILL);
  EXPECT_EQ(testing::read_file(file()).back(), '\n');
  const Recording recording(file());
  EXPECT_EQ(recording.calls().size(), 7u);
  const NcclTruth truth(recording);
  EXPECT_EQ(truth.unfinished, 1);
  expect_recorded(truth, replayed(recording));
}

TEST_F(NcclRecording, APluginThatIsNotThereIsAnErrorOfInit) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv(nccl_recorder::kPluginVariable, "/nowhere/plugin.so", 1);
    void* context = nullptr;
    int mask = 7;
    auto& plugin = recorder_of<5>();
    const Result result = plugin.init(&context, 1, &mask, "", 1, 2, 0, nullptr);
    ::_exit(result != 0 && context == nullptr && mask == 7 && plugin.stopEvent(nullptr) != 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(NcclRecording, AMalformedLineIsNamed) {
  const std::string head = std::string(nccl_recorder::kRecordingHead) + "\n";
  const std::string init =
      R"({"number":0,"time_ns":0,"thread":0,"version":5,"call":"init","result":0,"communicator":1,"name":"","nodes":1,)"
      R"("ranks":2,"rank":0,"mask":7,"returned":0})"
      "\n";
  const auto call = [](const std::string& rest) {
    return R"({"number":1,"time_ns":5,"thread":0,"version":5,"result":0,)" + rest + "}\n";
  };
  EXPECT_EQ(error_of(head + init), "none");
  EXPECT_EQ(error_of(head + init + R"({"number":1,"ti)"), "none") << "it is cut short";
  EXPECT_EQ(error_of("{}\n"), "1: no recording of NCCL's calls of this format");
  EXPECT_TRUE(error_of(head + init + "{\"number\":1,\"ti\n").starts_with("3: "));
  EXPECT_EQ(error_of(head + init + init), "3: not the next call: 0");
  EXPECT_EQ(error_of(head + init + call(R"("call":"resume")")), "3: no call of NCCL's: resume");
  EXPECT_EQ(error_of(head + init + call(R"("call":"stopEvent","handle":0)")),
            "3: handle is what no call before has returned");
  EXPECT_EQ(error_of(head + init + call(R"("call":"finalize","context":"0x12")")), "3: a context of no call");
  const std::string start = R"("call":"startEvent","context":0,"parentObj":null,"rank":0,"returned":1,)";
  EXPECT_EQ(error_of(head + init + call(start + R"("type":"KernelCh","channelId":3,"pTimer":1)")), "none");
  EXPECT_EQ(error_of(head + init + call(start + R"("type":"KernelCh","channelId":300,"pTimer":1)")),
            "3: channelId is no number that fits: 300");
  EXPECT_EQ(error_of(head + init + call(start + R"("type":"Kernel")")), "3: no type of an event: Kernel");
  EXPECT_TRUE(error_of(head + init + call(start + R"("type":"KernelCh","channelId":3)")).starts_with("3: "));
}

// Recordings of real GPUs: tests/fixtures/nccl/README.md. DDBENCH_NCCL_RECORDINGS names another folder.
TEST_F(NcclRecording, OfRealGpusAreUnderstood) {
  const char* const other = std::getenv("DDBENCH_NCCL_RECORDINGS");
  const std::filesystem::path folder = other != nullptr ? other : DDBENCH_NCCL_FIXTURES;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
  if (files.empty()) GTEST_SKIP() << "there is no recording of a real GPU yet: " << folder;
  for (const std::filesystem::path& fixture : files) {
    SCOPED_TRACE(fixture.filename());
    const Recording recording(fixture);
    const NcclTruth truth(recording);
    const Recorded spans = replayed(recording);
    expect_recorded(truth, spans);
    EXPECT_GT(spans.events.size(), 0u) << "no kernel was recorded";
    std::printf(
        "%s: %zu calls of %zu threads, %zu operations, %zu recorded; %d unfinished, %d unpaired, %d untimed\n",
        fixture.filename().c_str(), recording.calls().size(), recording.threads(), truth.operations.size(),
        spans.events.size(), truth.unfinished, truth.unpaired,
        static_cast<int>(spans.counters.at("nccl.untimed")));
  }
}

}  // namespace
}  // namespace ddbench::nccl
