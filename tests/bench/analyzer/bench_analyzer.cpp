#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <span>
#include <vector>

#include "analyzer/attribution/partition.h"
#include "analyzer/statistics/statistics.h"

// Goals: 10 M spans in under 1 s on one core (10 M items/s or more), peak memory of the process under 1000
// MB.

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kSpans = 10'000'000;

Span make_span(SpanKind kind, Lane lane, std::int64_t begin_ns, std::int64_t length_ns) {
  Span span;
  span.kind = kind;
  span.lane = lane;
  span.begin_ns = begin_ns;
  span.end_ns = begin_ns + length_ns;
  return span;
}

struct Steps {
  std::vector<Span> spans;
  std::size_t spans_per_step = 0;
  std::int64_t step_ns = 0;
};

/// As DDP records them: operators one after the other on the main lane, collectives beside them, the loader.
/// Each lane's spans are in order of time, lane after lane, as the rings are drained.
Steps training_steps(std::size_t steps, std::size_t spans_per_step) {
  Steps result{{}, spans_per_step, static_cast<std::int64_t>(spans_per_step) * 1000};
  result.spans.reserve(steps * spans_per_step);
  std::mt19937_64 generator(1);
  const std::size_t collectives = spans_per_step / 5;
  const std::size_t operators = spans_per_step - collectives;
  for (std::size_t step = 0; step < steps; ++step) {
    std::int64_t now_ns = static_cast<std::int64_t>(step) * result.step_ns;
    for (std::size_t i = 0; i < operators; ++i) {
      const auto kind = static_cast<SpanKind>(1 + i * 3 / operators);
      const auto length_ns = static_cast<std::int64_t>(generator() % 1000);
      result.spans.push_back(make_span(kind, Lane::kMain, now_ns, length_ns));
      now_ns += length_ns + 50;
    }
    now_ns = static_cast<std::int64_t>(step) * result.step_ns + result.step_ns / 3;
    for (std::size_t i = 0; i < collectives; ++i) {
      Span span = make_span(SpanKind::kCommunication, Lane::kCommunication, now_ns,
                            static_cast<std::int64_t>(generator() % 3000));
      span.correlation = collective_key(0, step * collectives + i + 1);
      now_ns = span.end_ns + 20;
      result.spans.push_back(span);
    }
  }
  return result;
}

LastArrivals arrivals_of(std::span<const Span> spans) {
  LastArrivals arrivals;
  for (const Span& span : spans) {
    if (span.correlation != 0) arrivals[span.correlation] = span.begin_ns + span.duration_ns() / 3;
  }
  return arrivals;
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

void partition_all(benchmark::State& state, const Steps& steps) {
  const std::size_t count = steps.spans.size() / steps.spans_per_step;
  // As finalize_run does it: arrivals are looked up in a table no larger than one range of steps.
  const std::size_t steps_with_arrivals = std::min<std::size_t>(count, 1000);
  const LastArrivals arrivals = arrivals_of({steps.spans.data(), steps_with_arrivals * steps.spans_per_step});
  std::int64_t checksum_ns = 0;
  for (auto _ : state) {
    for (std::size_t step = 0; step < count; ++step) {
      const std::span<const Span> spans{steps.spans.data() + step * steps.spans_per_step,
                                        steps.spans_per_step};
      const std::int64_t begin_ns = static_cast<std::int64_t>(step) * steps.step_ns;
      checksum_ns +=
          partition_step(spans, begin_ns, begin_ns + steps.step_ns, arrivals).partition.compute_ns();
    }
    benchmark::DoNotOptimize(checksum_ns);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(steps.spans.size()) * state.iterations());
  state.counters["peak_MB"] = peak_megabytes();
}

void partition_10m_spans_in_short_steps(benchmark::State& state) {
  partition_all(state, training_steps(kSpans / static_cast<std::size_t>(state.range(0)),
                                      static_cast<std::size_t>(state.range(0))));
}
BENCHMARK(partition_10m_spans_in_short_steps)->Arg(25)->Arg(30)->Unit(benchmark::kMillisecond);

void partition_10m_spans_in_steps_of_a_million(benchmark::State& state) {
  partition_all(state, training_steps(10, 1'000'000));
}
BENCHMARK(partition_10m_spans_in_steps_of_a_million)->Unit(benchmark::kMillisecond);

void partition_10m_spans_in_random_order(benchmark::State& state) {
  Steps steps = training_steps(10, 1'000'000);
  std::mt19937_64 generator(2);
  for (std::size_t step = 0; step < 10; ++step) {
    const auto first = steps.spans.begin() + static_cast<std::ptrdiff_t>(step * 1'000'000);
    std::shuffle(first, first + 1'000'000, generator);
  }
  partition_all(state, steps);
}
BENCHMARK(partition_10m_spans_in_random_order)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ddbench::analyzer

BENCHMARK_MAIN();
