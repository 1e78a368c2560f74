// Goals: 12 bytes a span or less, decode 50 M spans/s, encode 20 M spans/s.
#include <benchmark/benchmark.h>

#include "analyzer/store/codec/span_codec.h"
#include "ddp_trace.h"
#include "report_rate.h"

namespace {

using ddbench::Span;

constexpr double kGoalBytesASpan = 12;

// Argument: share of preempted spans in percent.
std::vector<Span> trace_for(const benchmark::State& state) {
  return ddbench::test::ddp_trace({.preempted_share = static_cast<double>(state.range(0)) / 100}).spans;
}

void encode(benchmark::State& state) {
  const std::vector<Span> spans = trace_for(state);
  const ddbench::bench::RateReport rate(state);
  for (auto _ : state) benchmark::DoNotOptimize(ddbench::store::encode_spans(spans).data());
  rate.report_against(spans.size(), 20e6);
}

void decode(benchmark::State& state) {
  const std::vector<Span> spans = trace_for(state);
  const auto chunk = ddbench::store::encode_spans(spans);
  const ddbench::bench::RateReport rate(state);
  for (auto _ : state) benchmark::DoNotOptimize(ddbench::store::decode_spans(chunk).data());
  rate.report_against(spans.size(), 50e6);
  const double bytes_a_span = static_cast<double>(chunk.size()) / static_cast<double>(spans.size());
  state.counters["bytes/span"] = bytes_a_span;
  state.counters["x_size_goal"] = kGoalBytesASpan / bytes_a_span;
}

BENCHMARK(encode)->ArgName("preempted_percent")->Arg(0)->Arg(10);
BENCHMARK(decode)->ArgName("preempted_percent")->Arg(0)->Arg(10);

}  // namespace
