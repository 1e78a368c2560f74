#include "probes/recorder/recorder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "allocation_counter.h"
#include "core/error.h"
#include "probes/recorder/spool.h"
#include "sample_spans.h"
#include "temp_directory.h"

namespace ddbench::host {
namespace {

using testing::numbered_span;
using testing::TempDirectory;

struct RecorderTest : ::testing::Test {
  RecorderOptions options(std::size_t ring_capacity = 1u << 12) const {
    return {directory.path() / "rank3.spool", ring_capacity, 3, "20261121T001905-3f9a1c2b"};
  }
  TempDirectory directory;
};

/// Records through a full ring: waits for the drain thread.
void record_surely(Recorder::Track& track, const Span& span) {
  while (!track.record(span)) std::this_thread::yield();
}

TEST_F(RecorderTest, SpoolReportsWhatWasRecorded) {
  Recorder recorder(options());
  const std::uint32_t gemm = recorder.intern("gemm");
  const std::uint32_t relu = recorder.intern("relu");
  EXPECT_EQ(recorder.intern("gemm"), gemm);
  Recorder::Track& main = recorder.track(Lane::kMain);
  Recorder::Track& loader = recorder.track(Lane::kLoader);
  EXPECT_TRUE(main.record(numbered_span(1, gemm)));
  EXPECT_TRUE(main.record(numbered_span(2, relu)));
  EXPECT_TRUE(loader.record(numbered_span(3, gemm)));
  recorder.record_scalar("loss", 7, 0.25);
  recorder.stop();
  EXPECT_EQ(recorder.failure(), "");

  SpoolReader reader(options().spool);
  EXPECT_EQ(reader.rank(), 3);
  EXPECT_EQ(reader.run_id(), "20261121T001905-3f9a1c2b");
  const SpoolBatch batch = reader.read();
  EXPECT_EQ(batch.new_names, (std::vector<std::string>{"gemm", "relu", "loss"}));
  ASSERT_EQ(batch.spans.size(), 3u);
  std::map<Lane, std::vector<Span>> by_lane;
  for (const Span& span : batch.spans) by_lane[span.lane].push_back(span);
  EXPECT_EQ(by_lane[Lane::kMain], (std::vector<Span>{numbered_span(1, gemm), numbered_span(2, relu)}));
  ASSERT_EQ(by_lane[Lane::kLoader].size(), 1u);
  EXPECT_EQ(by_lane[Lane::kLoader][0].correlation, numbered_span(3).correlation);
  EXPECT_EQ(batch.scalars, (std::vector<Scalar>{{2, 7, 0.25}}));
  EXPECT_EQ(batch.dropped, 0u);
  EXPECT_TRUE(batch.ended);
  EXPECT_TRUE(reader.read().spans.empty());
}

TEST_F(RecorderTest, DisabledWindowsKeepOnlySteps) {
  Recorder recorder(options());
  recorder.intern("gemm");
  Recorder::Track& track = recorder.track(Lane::kMain);
  Span step = numbered_span(2);
  step.kind = SpanKind::kStep;
  EXPECT_TRUE(track.record(numbered_span(1)));
  recorder.set_enabled(false);
  EXPECT_FALSE(track.enabled());
  EXPECT_FALSE(track.record(numbered_span(9)));
  { const ScopedSpan unseen(track, SpanKind::kBackward, 0); }
  EXPECT_TRUE(track.record(step));
  recorder.set_enabled(true);
  EXPECT_TRUE(track.record(numbered_span(3)));
  recorder.stop();
  EXPECT_EQ(SpoolReader(options().spool).read().spans,
            (std::vector<Span>{numbered_span(1), step, numbered_span(3)}));
  EXPECT_EQ(recorder.dropped(), 0u);
}

TEST_F(RecorderTest, WithTheProbesOffTheDrainThreadRestsButFlushesAndNeverOverflows) {
  Recorder recorder(options(64));
  recorder.intern("step");
  Recorder::Track& track = recorder.track(Lane::kMain);
  recorder.flush();
  recorder.set_enabled(false);
  Span step = numbered_span(2);
  step.kind = SpanKind::kStep;
  SpoolReader reader(options().spool);
  reader.read();
  EXPECT_TRUE(track.record(step));
  recorder.flush();
  EXPECT_EQ(reader.read().spans.size(), 1u) << "flush() is served";
  // 64 are more than a quarter of the ring: it does not rest until they are dropped.
  for (int i = 0; i < 1000; ++i) record_surely(track, step);
  recorder.stop();
  EXPECT_EQ(reader.read().spans.size(), 1000u);
}

TEST_F(RecorderTest, AccountsForWhatRecordingCosts) {
  Recorder recorder(options());
  recorder.intern("gemm");
  Recorder::Track& track = recorder.track(Lane::kMain);
  for (std::uint64_t i = 0; i < 100; ++i) record_surely(track, numbered_span(i));
  recorder.flush();
  const RecorderCost cost = recorder.cost();
  EXPECT_EQ(cost.spans, 100u);
  EXPECT_GT(cost.push_ns, 0);
  EXPECT_GT(cost.drain_cpu_ns, 0);
}

TEST_F(RecorderTest, ScopedSpanMeasuresItsScope) {
  Recorder recorder(options());
  for (int name = 0; name <= 5; ++name) recorder.intern(fmt::format("name {}", name));
  Recorder::Track& track = recorder.track(Lane::kCommunication);
  const std::int64_t before_ns = now_ns();
  { const ScopedSpan span(track, SpanKind::kCopy, 5, 11, 4096, 2); }
  const std::int64_t after_ns = now_ns();
  recorder.stop();
  const SpoolBatch batch = SpoolReader(options().spool).read();
  ASSERT_EQ(batch.spans.size(), 1u);
  const Span& span = batch.spans[0];
  EXPECT_LE(before_ns, span.begin_ns);
  EXPECT_LE(span.begin_ns, span.end_ns);
  EXPECT_LE(span.end_ns, after_ns);
  EXPECT_EQ(span.kind, SpanKind::kCopy);
  EXPECT_EQ(span.lane, Lane::kCommunication);
  EXPECT_EQ(span.name_id, 5u);
  EXPECT_EQ(span.step, 11u);
  EXPECT_EQ(span.bytes, 4096u);
  EXPECT_EQ(span.bucket, 2u);
}

TEST_F(RecorderTest, RecordingNeverAllocates) {
  Recorder recorder(options());
  Recorder::Track& track = recorder.track(Lane::kMain);
  const std::uint64_t before = testing::allocations_of_this_thread();
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const ScopedSpan span(track, SpanKind::kForward, 0);
    track.record(numbered_span(i));
  }
  EXPECT_EQ(testing::allocations_of_this_thread(), before);
}

TEST_F(RecorderTest, EverySpanIsSpooledOrCountedAsDropped) {
  Recorder recorder(options(16));
  recorder.intern("gemm");
  constexpr int kThreads = 3;
  constexpr std::uint64_t kSpans = 20'000;
  std::vector<std::thread> threads;
  std::vector<std::uint64_t> kept(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&recorder, &kept, thread] {
      Recorder::Track& track = recorder.track(static_cast<Lane>(thread));
      for (std::uint64_t i = 0; i < kSpans; ++i) kept[thread] += track.record(numbered_span(i)) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  recorder.stop();
  const SpoolBatch batch = SpoolReader(options().spool).read();
  EXPECT_EQ(batch.spans.size() + batch.dropped, kThreads * kSpans);
  EXPECT_EQ(batch.dropped, recorder.dropped());
  std::vector<std::uint64_t> spooled(kThreads);
  std::vector<std::int64_t> last_ns(kThreads, -1);
  for (const Span& span : batch.spans) {
    const auto thread = static_cast<std::size_t>(span.lane);
    ASSERT_LT(last_ns[thread], span.begin_ns) << "order within a track";
    last_ns[thread] = span.begin_ns;
    ++spooled[thread];
  }
  EXPECT_EQ(spooled, kept);
}

TEST_F(RecorderTest, CanBeReadWhileItIsWritten) {
  constexpr std::uint32_t kSpans = 60'000;
  Recorder recorder(options(1024));
  std::atomic<std::uint32_t> spans{0};  // read so far
  std::thread producer([&recorder, &spans] {
    Recorder::Track& track = recorder.track(Lane::kMain);
    std::uint32_t name_id = 0;
    for (std::uint32_t i = 0; i < kSpans; ++i) {
      while (i == kSpans / 2 && spans < i) std::this_thread::yield();  // the reader must see the unended file
      if (i % 1000 == 0) name_id = recorder.intern("name " + std::to_string(i));
      record_surely(track, numbered_span(i, name_id));
      if (i % 500 == 0) recorder.record_scalar("loss", i, i * 0.5);
    }
    recorder.stop();
  });
  SpoolReader reader(options().spool);
  std::vector<std::string> names;
  std::uint32_t scalars = 0;
  while (true) {
    const SpoolBatch batch = reader.read();
    names.insert(names.end(), batch.new_names.begin(), batch.new_names.end());
    for (const Span& span : batch.spans) {
      ASSERT_LT(span.name_id, names.size()) << "a span came before its name";
      ASSERT_EQ(names[span.name_id], "name " + std::to_string(spans / 1000 * 1000));
      ASSERT_EQ(span, numbered_span(spans, span.name_id));
      ++spans;
    }
    for (const Scalar& scalar : batch.scalars) {
      ASSERT_EQ(names.at(scalar.name_id), "loss");
      ASSERT_EQ(scalar.step, scalars * 500);
      ++scalars;
    }
    if (batch.ended) break;
    std::this_thread::yield();
  }
  producer.join();
  EXPECT_EQ(spans, kSpans);
  EXPECT_EQ(scalars, kSpans / 500);
}

TEST_F(RecorderTest, WhatWasFlushedIsInTheFile) {
  Recorder recorder(options());
  Recorder::Track& track = recorder.track(Lane::kMain);
  const std::uint32_t name = recorder.intern("gemm");
  SpoolReader reader(options().spool);
  std::size_t spans = 0;
  for (std::uint32_t step = 0; step < 200; ++step) {
    for (std::uint64_t i = 0; i <= step; ++i) record_surely(track, numbered_span(i, name));
    recorder.record_scalar("loss", step, 1);
    recorder.flush();
    const SpoolBatch batch = reader.read();
    ASSERT_EQ(batch.scalars.size(), 1u) << "step " << step;
    EXPECT_EQ(batch.scalars[0].step, step);
    spans += batch.spans.size();
    ASSERT_EQ(spans, (step + 1) * (step + 2) / 2u);
  }
  recorder.stop();
  recorder.flush();  // nothing is left to do
}

TEST_F(RecorderTest, StopIsOnceAndDestructionStops) {
  {
    Recorder recorder(options());
    recorder.intern("gemm");
    recorder.track(Lane::kMain).record(numbered_span(1));
  }
  EXPECT_TRUE(SpoolReader(options().spool).read().ended);
  Recorder recorder(options());
  recorder.stop();
  recorder.stop();
  EXPECT_TRUE(recorder.track(Lane::kMain).record(numbered_span(2)));
  EXPECT_TRUE(SpoolReader(options().spool).read().spans.empty());
}

TEST_F(RecorderTest, RefusesARingThatCannotBe) {
  Recorder recorder(options(0));
  try {
    recorder.track(Lane::kMain);
    FAIL() << "a ring of 0 spans was made";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_NE(error.message().find("0 spans"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace ddbench::host
