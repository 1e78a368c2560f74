// Goals: 12 bytes a span or less, decode 50 M spans/s, encode 20 M spans/s. "x_goal" of 1 or more meets the
// goal.
#include <benchmark/benchmark.h>

#include "ddbench/store/span_codec.h"
#include "ddp_trace.h"

namespace {

using ddbench::Span;

// Argument: share of preempted spans in percent.
std::vector<Span> trace_for(const benchmark::State& state) {
  return ddbench::test::ddp_trace({.preempted_share = static_cast<double>(state.range(0)) / 100}).spans;
}

void report_rate(benchmark::State& state, std::size_t spans, double goal_spans_per_s) {
  const double total = static_cast<double>(state.iterations()) * static_cast<double>(spans);
  state.counters["spans/s"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters["x_goal"] = benchmark::Counter(total / goal_spans_per_s, benchmark::Counter::kIsRate);
}

void encode(benchmark::State& state) {
  const std::vector<Span> spans = trace_for(state);
  std::size_t bytes = 0;
  for (auto _ : state) {
    const auto chunk = ddbench::store::encode_spans(spans);
    bytes = chunk.size();
    benchmark::DoNotOptimize(chunk.data());
  }
  report_rate(state, spans.size(), 20e6);
  state.counters["bytes/span"] = static_cast<double>(bytes) / static_cast<double>(spans.size());
}

void decode(benchmark::State& state) {
  const std::vector<Span> spans = trace_for(state);
  const auto chunk = ddbench::store::encode_spans(spans);
  for (auto _ : state) benchmark::DoNotOptimize(ddbench::store::decode_spans(chunk).data());
  report_rate(state, spans.size(), 50e6);
}

BENCHMARK(encode)->ArgName("preempted_percent")->Arg(0)->Arg(10);
BENCHMARK(decode)->ArgName("preempted_percent")->Arg(0)->Arg(10);

}  // namespace
