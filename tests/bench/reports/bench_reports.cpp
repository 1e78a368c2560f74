// The report of a sweep of 50 runs: under 2 MB, in under 1 s. `of_1_s` and `of_2_MB` are shares of these
// goals, below 1.

#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>

#include "reports/formats/csv/csv.h"
#include "reports/formats/html/html.h"
#include "reports/formats/markdown/markdown.h"
#include "reports/formats/perfetto/perfetto.h"
#include "sample_store.h"

namespace ddbench::reports {
namespace {

/// 50 runs of up to 10 ranks and 65 steps: 2 million spans.
class SweepOfFifty {
 public:
  SweepOfFifty() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ddbench-bench-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    store_ = std::make_unique<store::RunStore>(
        store::RunStore::open(directory_ / "results.db", store::OpenMode::kReadWrite));
    test::SampleSweep sweep;
    sweep.nodes = {1, 2, 3, 4, 5};
    sweep.gpus_per_node = {1, 2};
    sweep.repetitions = 5;
    sweep.steps = 60;
    ids = test::add_sample_sweep(*store_, sweep);
    id = sweep.id;
  }
  ~SweepOfFifty() {
    store_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  const store::RunStore& store() const { return *store_; }

  std::vector<store::RunId> ids;
  std::string id;

 private:
  std::filesystem::path directory_;
  std::unique_ptr<store::RunStore> store_;
};

const SweepOfFifty& sample() {
  static const SweepOfFifty sweep;
  return sweep;
}

/// Seconds of one iteration as a share of the goal.
void count_goals(benchmark::State& state, std::size_t bytes) {
  state.counters["bytes"] = static_cast<double>(bytes);
  state.counters["of_2_MB"] = static_cast<double>(bytes) / 2e6;
  state.counters["of_1_s"] =
      benchmark::Counter(1, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void sweep_page(benchmark::State& state) {
  const SweepOfFifty& sweep = sample();
  std::size_t bytes = 0;
  for (auto _ : state) bytes = sweep_html(sweep_report(sweep.store(), sweep.id)).size();
  count_goals(state, bytes);
}

/// Only the writing, with the content already computed.
void sweep_page_writing(benchmark::State& state) {
  const SweepReport report = sweep_report(sample().store(), sample().id);
  std::size_t bytes = 0;
  for (auto _ : state) bytes = sweep_html(report).size();
  count_goals(state, bytes);
}

void run_page(benchmark::State& state) {
  const SweepOfFifty& sweep = sample();
  std::size_t bytes = 0;
  for (auto _ : state) bytes = run_html(run_report(sweep.store(), sweep.ids.back())).size();
  count_goals(state, bytes);
}

void sweep_markdown_text(benchmark::State& state) {
  const SweepOfFifty& sweep = sample();
  std::size_t bytes = 0;
  for (auto _ : state) bytes = sweep_markdown(sweep_report(sweep.store(), sweep.id)).size();
  count_goals(state, bytes);
}

void steps_table(benchmark::State& state) {
  const SweepOfFifty& sweep = sample();
  std::size_t bytes = 0;
  for (auto _ : state)
    write_steps_csv(sweep.store(), sweep.ids, [&](std::string_view text) { bytes += text.size(); });
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

void run_trace(benchmark::State& state) {
  const SweepOfFifty& sweep = sample();
  std::size_t bytes = 0;
  std::size_t spans = 0;
  for (auto _ : state)
    write_perfetto(sweep.store(), sweep.ids.back(), {}, [&](std::string_view text) { bytes += text.size(); });
  for (const store::RankRecord& rank : sweep.store().ranks(sweep.ids.back()))
    spans += sweep.store().spans(sweep.ids.back(), rank.rank).size();
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.SetItemsProcessed(static_cast<std::int64_t>(spans * state.iterations()));
}

BENCHMARK(sweep_page)->Unit(benchmark::kMillisecond);
BENCHMARK(sweep_page_writing)->Unit(benchmark::kMillisecond);
BENCHMARK(sweep_markdown_text)->Unit(benchmark::kMillisecond);
BENCHMARK(run_page)->Unit(benchmark::kMillisecond);
BENCHMARK(steps_table)->Unit(benchmark::kMillisecond);
BENCHMARK(run_trace)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ddbench::reports

BENCHMARK_MAIN();
