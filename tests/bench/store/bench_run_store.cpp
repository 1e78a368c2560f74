// The store as the harness and `ddbench list` use it, on the disk of the temporary directory.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>

#include "analyzer/store/rows/run_store.h"
#include "ddp_trace.h"
#include "report_rate.h"

namespace {

namespace fs = std::filesystem;
using ddbench::store::OpenMode;
using ddbench::store::RunRecord;
using ddbench::store::RunStore;

class StoreFile {
 public:
  StoreFile() {
    std::string name = (fs::temp_directory_path() / "ddbench-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    directory_ = name;
  }
  StoreFile(const StoreFile&) = delete;
  StoreFile& operator=(const StoreFile&) = delete;
  ~StoreFile() {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }
  fs::path path() const { return directory_ / "results.db"; }

 private:
  fs::path directory_;
};

RunRecord numbered_run(int number) {
  RunRecord run;
  run.id = "run" + std::to_string(number);
  run.started_wall_ns = number;
  run.environment.facts = {{"cpu.model", "some model of a CPU"}, {"cpu.cores", "64"}, {"kernel", "6.1.0"}};
  return run;
}

// Argument: spans an append_spans call, as the drain of one rank brings them.
void append_spans(benchmark::State& state) {
  const auto batch = static_cast<std::size_t>(state.range(0));
  const ddbench::test::Trace trace = ddbench::test::ddp_trace({.steps = static_cast<int>(batch / 25 + 1)});
  const std::span<const ddbench::Span> spans = std::span(trace.spans).first(batch);
  const StoreFile file;
  RunStore store = RunStore::open(file.path(), OpenMode::kReadWrite);
  store.create_run(numbered_run(0));
  const ddbench::bench::RateReport rate(state);
  for (auto _ : state) store.append_spans("run0", 0, spans, trace.names);
  rate.report(batch);
  store = RunStore::open(file.path(), OpenMode::kReadWrite);  // the first closes: its log is merged
  state.counters["file_bytes/span"] = static_cast<double>(fs::file_size(file.path())) /
                                      static_cast<double>(state.iterations()) / static_cast<double>(batch);
}

void read_spans(benchmark::State& state) {
  const ddbench::test::Trace trace = ddbench::test::ddp_trace({.steps = 40'000});
  const StoreFile file;
  RunStore store = RunStore::open(file.path(), OpenMode::kReadWrite);
  store.create_run(numbered_run(0));
  store.append_spans("run0", 0, trace.spans, trace.names);
  const ddbench::bench::RateReport rate(state);
  for (auto _ : state) benchmark::DoNotOptimize(store.spans("run0", 0).data());
  rate.report(trace.spans.size());
}

void open_and_list_1000_runs(benchmark::State& state) {
  const StoreFile file;
  RunStore store = RunStore::open(file.path(), OpenMode::kReadWrite);
  for (int number = 0; number < 1000; ++number) store.create_run(numbered_run(number));
  for (auto _ : state) {
    benchmark::DoNotOptimize(RunStore::open(file.path(), OpenMode::kReadOnly).runs().data());
  }
}

BENCHMARK(append_spans)->ArgName("batch")->Arg(250)->Arg(16384)->Arg(100'000);
BENCHMARK(read_spans)->Unit(benchmark::kMillisecond);
BENCHMARK(open_and_list_1000_runs)->Unit(benchmark::kMillisecond);

}  // namespace
