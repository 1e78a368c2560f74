// What CUPTI handed to a probe, written to a file and handed to another one.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <tuple>

#include "cupti_life.h"
#include "probes/cupti/buffer_recording.h"
#include "recording.h"

namespace ddbench::cuda {
namespace {

using cupti::Recording;

class CuptiRecording : public CuptiLife {
 protected:
  ~CuptiRecording() override { ::unsetenv(kRecordingVariable); }

  std::filesystem::path file() const { return directory_.path() / "run.cupti"; }
  static void ask_for(const std::filesystem::path& file) { ::setenv(kRecordingVariable, file.c_str(), 1); }

  /// Something of everything: ranges, a graph, markers, calls, lost records, buffers out of order.
  void work(CuptiProbe& probe) {
    EXPECT_TRUE(probe.follow_capture(true));
    probe.push({SpanKind::kBackward, kNoStep, kNoBucket, 0, 0});
    cupti::create_node(1);
    probe.pop();
    cupti::clone_node(1, 2);
    EXPECT_TRUE(probe.follow_capture(false));
    for (std::uint32_t step = 1; step < 4; ++step) {
      const ScopedRange range(&probe, {SpanKind::kCommunication, step, 3, 4096, 70 + step});
      const std::uint64_t at = 1'000 * step;
      const std::string collective = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
      const std::string name = "gemm" + std::to_string(step);
      MarkerRecord begin{};
      begin.kind = CUPTI_ACTIVITY_KIND_MARKER;
      begin.flags = CUPTI_ACTIVITY_FLAG_MARKER_START;
      begin.id = step;
      begin.timestamp = at;
      begin.name = kept("step " + std::to_string(step));
      MarkerRecord end = begin;
      end.flags = CUPTI_ACTIVITY_FLAG_MARKER_END;
      end.timestamp = at + 900;
      end.name = nullptr;
      cupti::drop(step);
      EXPECT_TRUE(cupti::deliver(cupti::Records()
                                     .add(begin)
                                     .add(kernel(kept(collective), step, at + 100, at + 200))
                                     .add(kernel(kept(name), step, at + 200, at + 300, 2))
                                     .add(kernel(kept(name), step, 0, at + 300))));
      EXPECT_TRUE(cupti::deliver(call(step, at, at + 50)));
      EXPECT_TRUE(cupti::deliver(cupti::Records().add(end)));
    }
  }
  const char* kept(const std::string& text) { return names_.emplace_back(text).c_str(); }

  using Row = std::tuple<std::string, Lane, SpanKind, std::int64_t, std::int64_t, std::uint32_t,
                         std::uint16_t, std::uint64_t, std::uint64_t>;
  static std::vector<Row> rows(const RecordedSpans& read) {
    std::vector<Row> rows;
    for (const auto& [name, span] : read.spans) {
      rows.emplace_back(name, span.lane, span.kind, span.begin_ns, span.end_ns, span.step, span.bucket,
                        span.bytes, span.correlation);
    }
    std::sort(rows.begin(), rows.end());  // lanes are drained in any order
    return rows;
  }

  std::deque<std::string> names_;
};

TEST_F(CuptiRecording, GivesAnotherProbeEqualSpans) {
  ask_for(file());
  {
    CuptiProbe probe(recorder_);
    work(probe);
    EXPECT_EQ(probe.stop().recording_errors, 0u);
  }
  const RecordedSpans live = recorded();
  EXPECT_FALSE(live.scalars.contains("cupti.recording_errors"));
  ::unsetenv(kRecordingVariable);
  cupti::reset();
  for (std::string& name : names_) std::fill(name.begin(), name.end(), '?');  // of a process that is gone

  Recording recording(file());
  EXPECT_TRUE(recording.fits());
  EXPECT_EQ(recording.built_with(), std::uint32_t{CUPTI_API_VERSION});
  EXPECT_EQ(recording.ran_with(), std::uint32_t{CUPTI_API_VERSION});
  host::Recorder recorder({directory_.path() / "again.spool", 1u << 12, 0, "test"});
  CuptiProbe probe(recorder);
  for (int i = 0; i < 100; ++i)
    probe.push({SpanKind::kForward, 9, 9, 9, 9});  // its ids are not the recording's
  for (int i = 0; i < 100; ++i) probe.pop();
  EXPECT_EQ(recording.replay(probe), 3u * 7);
  EXPECT_EQ(probe.stop().without_range, 0u);
  recorder.stop();
  const RecordedSpans again = read_spans(directory_.path() / "again.spool");
  ASSERT_EQ(live.spans.size(), 3u * 4);
  EXPECT_EQ(live["step 2"].kind, SpanKind::kHost) << "the marker";
  EXPECT_EQ(live["gemm2"].kind, SpanKind::kBackward) << "of the graph";
  EXPECT_EQ(rows(again), rows(live));
  EXPECT_EQ(again.scalars, live.scalars);
}

TEST_F(CuptiRecording, WhatCannotBeWrittenEndsTheRecordingAndNothingElse) {
  const std::filesystem::path others = directory_.write("others.cupti", "of another rank");
  ask_for(others);
  {
    CuptiProbe probe(recorder_);
    work(probe);
    const ProbeCounters counters = probe.stop();
    EXPECT_EQ(counters.recording_errors, 1u);
    EXPECT_EQ(counters.spans, 3u * 4);
  }
  EXPECT_EQ(testing::read_file(others), "of another rank");
  EXPECT_EQ(recorded().scalars.at("cupti.recording_errors"), 1);

  BufferRecording full(std::fopen("/dev/full", "wb"));
  EXPECT_EQ(full.errors(), 1u);
  full.add_range(1, {});
  full.end();
  EXPECT_EQ(full.errors(), 1u);
}

TEST_F(CuptiRecording, AForkNeitherEndsNorDoublesIt) {
  BufferRecording recording(std::fopen(file().c_str(), "wb"));
  recording.add_range(1, {});
  const pid_t child = ::fork();
  if (child == 0) std::exit(0);  // with all that a process does at its end
  ::waitpid(child, nullptr, 0);
  const auto before = std::filesystem::file_size(file());
  recording.add_range(2, {});
  recording.end();
  EXPECT_EQ(recording.errors(), 0u);
  constexpr std::uintmax_t kRangeFrame = 8 + 8 + 28;
  EXPECT_EQ(before, 20 + kRangeFrame) << "the head and a frame";
  EXPECT_EQ(std::filesystem::file_size(file()), before + kRangeFrame);
}

TEST_F(CuptiRecording, ACutOffFrameIsLeftOutAndOtherFilesAreRefused) {
  ask_for(file());
  {
    CuptiProbe probe(recorder_);
    work(probe);
  }
  ::unsetenv(kRecordingVariable);
  const std::string whole = testing::read_file(file());
  const auto replayed = [&](const std::string& bytes) {
    cupti::reset();
    Recording recording(directory_.write("changed.cupti", bytes));
    CuptiProbe probe(recorder_);
    return recording.replay(probe);
  };
  EXPECT_EQ(replayed(whole), 21u);
  EXPECT_EQ(replayed(whole.substr(0, whole.size() - 1)), 20u) << "without the last marker";
  EXPECT_THROW(replayed("DDBCUPTI"), std::runtime_error);
  EXPECT_THROW(replayed("something else, as long as a head"), std::runtime_error);
  std::string later = whole;
  later[8] = 2;
  EXPECT_THROW(replayed(later), std::runtime_error);
}

// Recordings of real GPUs: tests/fixtures/cupti/README.md.
TEST_F(CuptiRecording, OfRealGpusAreUnderstood) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(DDBENCH_CUPTI_FIXTURES)) {
    if (entry.path().extension() == ".cupti") files.push_back(entry.path());
  }
  if (files.empty()) GTEST_SKIP() << "there is no recording of a real GPU yet: " << DDBENCH_CUPTI_FIXTURES;
  for (const std::filesystem::path& fixture : files) {
    SCOPED_TRACE(fixture.filename());
    cupti::reset();
    Recording recording(fixture);
    if (!recording.fits()) {
      std::printf("%s: of another CUPTI (%u)\n", fixture.c_str(), recording.built_with());
      continue;
    }
    const testing::TempDirectory directory;
    host::Recorder recorder({directory.path() / "spool", 1u << 14, 0, "test"});
    CuptiProbe probe(recorder);
    EXPECT_GT(recording.replay(probe), 0u);
    const ProbeCounters counters = probe.stop();
    EXPECT_EQ(counters.invalid_times, 0u);
    EXPECT_EQ(counters.unknown_kernels, std::vector<std::string>());
    recorder.stop();
    int in_step = 0;
    for (const auto& [name, span] : read_spans(directory.path() / "spool").spans) {
      in_step += span.lane == Lane::kDeviceCompute && span.step != kNoStep;
    }
    EXPECT_GT(in_step, 0) << "kernels have the steps of their ranges";
  }
}

}  // namespace
}  // namespace ddbench::cuda
