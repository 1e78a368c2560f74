// What the dashboard's page "What if" computes when a slider moves: two curves of a step of eight ranks with forty
// layers and eight buckets, up to N nodes. Goal: 100 ms (`of_100_ms` below 1).

#include <benchmark/benchmark.h>

#include <cstdint>
#include <ctime>
#include <utility>
#include <vector>

#include "analyzer/predict/what_if_figure.h"

namespace ddbench::analyzer {
namespace {

StepRecording recorded_steps() {
  constexpr int kRanks = 8;
  constexpr std::uint32_t kBuckets = 8;
  constexpr int kLayersOfBucket = 5;
  StepRecording recording;
  recording.shape = {1, kRanks};
  recording.samples_per_rank = 32;
  recording.slowdown = 0.1;
  for (std::uint32_t bucket = 0; bucket < kBuckets; ++bucket)
    recording.collectives.push_back({"all_reduce", 25e6, static_cast<int>(bucket)});
  for (std::uint32_t step = 0; step < 64; ++step) {
    RecordedStep recorded{step, {}, std::vector<double>(kBuckets, 2e6)};
    for (int rank = 0; rank < kRanks; ++rank) {
      RankStep one;
      one.start_delay_ns.assign(kBuckets, 1e4);
      one.end_share.assign(kBuckets, 1);
      for (std::uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
        for (int layer = 0; layer < kLayersOfBucket; ++layer)
          one.events.push_back({StepAction::kWork, WorkKind::kPass, 0, 3e5 + 1e3 * (step % 7) + 2e3 * rank});
        one.events.push_back({StepAction::kIssue, WorkKind::kHost, bucket, 0});
      }
      one.events.push_back({StepAction::kWait, WorkKind::kHost, kBuckets - 1, 0});
      one.duration_ns = 2e7;
      recorded.ranks.push_back(std::move(one));
    }
    recording.steps.push_back(std::move(recorded));
  }
  recording.step_ns = 2e7;
  return recording;
}

void BM_WhatIfRedraw(benchmark::State& state) {
  const StepRecording recording = recorded_steps();
  CollectiveCosts costs;
  costs.set_link({1e10, 2e4});
  add_costs(recording, costs);
  WhatIfQuestion question;
  question.what_if.batch_factor = 2;
  const int nodes = static_cast<int>(state.range(0));
  const std::clock_t begin = std::clock();
  for (auto unused : state) {
    const WhatIfCurve unchanged = what_if_curve(recording, costs, {}, nodes, kWhatIfBudget);
    benchmark::DoNotOptimize(what_if_figure(recording, unchanged, what_if_curve(recording, costs, question, nodes, kWhatIfBudget)));
  }
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  state.counters["of_100_ms"] = seconds / static_cast<double>(state.iterations()) / 0.1;
}
BENCHMARK(BM_WhatIfRedraw)->Arg(8)->Arg(64)->Arg(512)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ddbench::analyzer
