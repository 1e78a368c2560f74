// Goals: 25 ns per pushed span, no allocation, 20 M spans/s through the drain thread into a file. The counter
// of_goal is 1 if a goal is just met, and larger if it is exceeded. DDBENCH_BENCH_DISK=<directory> selects
// the disk to which `drain/disk` writes 400 MB (default: the working directory).

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "allocation_counter.h"
#include "core/clock.h"
#include "probes/recorder/recorder.h"
#include "probes/recorder/span_ring.h"
#include "probes/recorder/spool.h"

namespace ddbench::host {
namespace {

using testing::allocations_of_this_thread;

constexpr double kPushGoal = 1e9 / 25;
constexpr double kDrainGoal = 20e6;

Span sample_span(std::uint64_t number) {
  Span span;
  span.begin_ns = static_cast<std::int64_t>(number);
  span.end_ns = static_cast<std::int64_t>(number) + 1000;
  span.bytes = 4096;
  span.correlation = number;
  span.step = static_cast<std::uint32_t>(number >> 8);
  span.kind = SpanKind::kForward;
  return span;
}

void report_rate(benchmark::State& state, double spans, double goal) {
  state.counters["spans/s"] = benchmark::Counter(spans, benchmark::Counter::kIsRate);
  state.counters["of_goal"] = benchmark::Counter(spans / goal, benchmark::Counter::kIsRate);
}

/// The ring alone; it is emptied with the clock stopped.
void push(benchmark::State& state) {
  SpanRing ring(1u << 15);
  std::uint64_t number = 0;
  const std::uint64_t before = allocations_of_this_thread();
  for (auto _ : state) {
    if (!ring.push(sample_span(number++))) {
      state.PauseTiming();
      ring.discard(ring.front().size());
      state.ResumeTiming();
    }
  }
  state.counters["allocations"] = static_cast<double>(allocations_of_this_thread() - before);
  report_rate(state, static_cast<double>(state.iterations()), kPushGoal);
}
BENCHMARK(push);

/// Through a track while the drain thread empties its ring; waits with the clock stopped where that is too
/// slow.
void record(benchmark::State& state) {
  Recorder recorder({"/dev/null", 1u << 15, 0, "bench"});
  Recorder::Track& track = recorder.track(Lane::kMain);
  std::uint64_t number = 0;
  const std::uint64_t before = allocations_of_this_thread();
  for (auto _ : state) {
    if (!track.record(sample_span(number++))) {
      state.PauseTiming();
      std::this_thread::sleep_for(std::chrono::microseconds(300));
      state.ResumeTiming();
    }
  }
  state.counters["allocations"] = static_cast<double>(allocations_of_this_thread() - before);
  report_rate(state, static_cast<double>(state.iterations()), kPushGoal);
}
BENCHMARK(record);

/// What a probe costs in all: two readings of the clock and the push.
void scoped_span(benchmark::State& state) {
  Recorder recorder({"/dev/null", 1u << 15, 0, "bench"});
  Recorder::Track& track = recorder.track(Lane::kMain);
  recorder.set_enabled(state.range(0) != 0);
  const std::uint64_t before = allocations_of_this_thread();
  for (auto _ : state) {
    const ScopedSpan span(track, SpanKind::kForward, 0, 1);
    benchmark::ClobberMemory();
  }
  state.counters["allocations"] = static_cast<double>(allocations_of_this_thread() - before);
  state.counters["dropped"] = static_cast<double>(recorder.dropped());
}
BENCHMARK(scoped_span)->ArgName("enabled")->Arg(1)->Arg(0);

void clock_read(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(now_ns());
}
BENCHMARK(clock_read);

/// Waits while the ring is full, so that it is the drain thread that is measured.
void spool_spans(const std::filesystem::path& file, std::uint64_t spans) {
  Recorder recorder({file, 1u << 16, 0, "bench"});
  Recorder::Track& track = recorder.track(Lane::kMain);
  for (std::uint64_t number = 0; number < spans; ++number) {
    while (!track.record(sample_span(number))) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  recorder.stop();
}

/// From the first push to the end of stop(), through the real drain thread into a new file.
void drain(benchmark::State& state, const std::filesystem::path& directory) {
  constexpr std::uint64_t kSpans = 8u << 20;
  const std::filesystem::path file = directory / "ddbench-bench.spool";
  for (auto _ : state) {
    spool_spans(file, kSpans);
    state.PauseTiming();
    std::filesystem::remove(file);
    state.ResumeTiming();
  }
  report_rate(state, static_cast<double>(kSpans) * static_cast<double>(state.iterations()), kDrainGoal);
}

std::filesystem::path disk() {
  const char* chosen = std::getenv("DDBENCH_BENCH_DISK");
  return chosen != nullptr ? std::filesystem::path(chosen) : std::filesystem::current_path();
}

BENCHMARK_CAPTURE(drain, tmpfs, "/dev/shm")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(drain, disk, disk())->UseRealTime()->Unit(benchmark::kMillisecond);

/// The other end: reads a finished spool in batches.
void read_spool(benchmark::State& state) {
  constexpr std::uint64_t kSpans = 4u << 20;
  const std::filesystem::path file = "/dev/shm/ddbench-bench.spool";
  spool_spans(file, kSpans);
  for (auto _ : state) {
    SpoolReader reader(file);
    while (!reader.read(1u << 18).ended) {
    }
  }
  std::filesystem::remove(file);
  report_rate(state, static_cast<double>(kSpans) * static_cast<double>(state.iterations()), kDrainGoal);
}
BENCHMARK(read_spool)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ddbench::host

BENCHMARK_MAIN();
