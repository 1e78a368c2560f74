#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/finalize/finalize.h"
#include "analyzer/run/run_summary.h"

// From stored spans to rows and to a summary, SQLite and decoding included: what a user waits for at the end
// of a run.

namespace ddbench::analyzer {
namespace {

constexpr int kRanks = 8;
constexpr int kOperators = 24;
constexpr int kCollectives = 4;
constexpr std::int64_t kStep_ns = 100'000;

class StoredRun {
 public:
  explicit StoredRun(int steps)
      : file_(std::filesystem::temp_directory_path() /
              ("ddbench-bench-" + std::to_string(::getpid()) + ".db")),
        store_(store::RunStore::open(file_, store::OpenMode::kReadWrite)) {
    store::RunRecord run;
    run.id = "bench";
    run.run_case.gpus_per_node = kRanks;
    run.run_case.steps = steps - run.run_case.warmup;
    run.state = store::RunState::kDone;
    store_.create_run(run);
    std::vector<store::RankRecord> ranks(kRanks);
    for (int rank = 0; rank < kRanks; ++rank) {
      ranks[static_cast<std::size_t>(rank)].rank = rank;
      ranks[static_cast<std::size_t>(rank)].clock.shared_clock = true;
      store_.append_spans("bench", rank, spans_of(rank, steps),
                          std::vector<std::string>{"operator", "all_reduce"});
    }
    store_.put_ranks("bench", ranks);
  }
  ~StoredRun() {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::error_code ignored;
      std::filesystem::remove(file_.string() + suffix, ignored);
    }
  }
  StoredRun(const StoredRun&) = delete;
  StoredRun& operator=(const StoredRun&) = delete;

  store::RunStore& store() { return store_; }

 private:
  static std::vector<Span> spans_of(int rank, int steps) {
    std::vector<Span> spans;
    for (int step = 0; step < steps; ++step) {
      const std::int64_t begin_ns = step * kStep_ns;
      const auto add = [&](SpanKind kind, std::int64_t from_ns, std::int64_t to_ns) -> Span& {
        Span& span = spans.emplace_back();
        span.kind = kind;
        span.step = static_cast<std::uint32_t>(step);
        span.begin_ns = begin_ns + from_ns;
        span.end_ns = begin_ns + to_ns;
        return span;
      };
      for (int i = 0; i < kOperators; ++i) add(SpanKind::kBackward, i * 3000, i * 3000 + 2900);
      for (int i = 0; i < kCollectives; ++i) {
        Span& span = add(SpanKind::kCommunication, 30'000 + i * 15'000 + rank * 100, 44'000 + i * 15'000);
        span.name_id = 1;
        span.bytes = 1 << 20;
        span.bucket = static_cast<std::uint16_t>(i);
        span.correlation = collective_key(0, static_cast<std::uint64_t>(step * kCollectives + i + 1));
      }
      add(SpanKind::kStep, 0, kStep_ns);
    }
    return spans;
  }

  std::filesystem::path file_;
  store::RunStore store_;
};

void finalize_stored_spans(benchmark::State& state) {
  const int steps = static_cast<int>(state.range(0));
  StoredRun run(steps);
  for (auto _ : state) finalize_run(run.store(), "bench");
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.SetItemsProcessed(state.iterations() * steps * kRanks * (kOperators + kCollectives + 1));
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}
BENCHMARK(finalize_stored_spans)->Arg(65)->Arg(20'000)->Unit(benchmark::kMillisecond);

void summarize_stored_run(benchmark::State& state) {
  StoredRun run(static_cast<int>(state.range(0)));
  finalize_run(run.store(), "bench");
  for (auto _ : state) benchmark::DoNotOptimize(summarize(run.store(), "bench"));
}
BENCHMARK(summarize_stored_run)->Arg(65)->Arg(20'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ddbench::analyzer
