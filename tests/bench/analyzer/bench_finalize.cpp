#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/attribution/summarize_step.h"
#include "analyzer/finalize/finalize.h"
#include "analyzer/run/run_summary.h"
#include "core/clock.h"

// From stored spans to rows and to a summary, SQLite and decoding included: what a user waits for at the end
// of a run.

namespace ddbench::analyzer {
namespace {

constexpr int kOperators = 24;
constexpr int kCollectives = 4;
constexpr std::int64_t kShortStep_ns = 100'000;
constexpr std::int64_t kLongStep_ns = 1'000'000'000;

/// Ranks of one machine, with every span, or of machines of eight, with the clocks of a real network and every span of one step
/// in 16, as a launcher stores them from 32 ranks on.
class StoredRun {
 public:
  StoredRun(int ranks_wanted, int steps, bool is_sampled)
      : step_ns_(is_sampled ? kLongStep_ns : kShortStep_ns),
        file_(std::filesystem::temp_directory_path() /
              ("ddbench-bench-" + std::to_string(::getpid()) + ".db")),
        store_(store::RunStore::open(file_, store::OpenMode::kReadWrite)) {
    store::RunRecord run;
    run.id = "bench";
    run.run_case.gpus_per_node = std::min(8, ranks_wanted);
    run.run_case.nodes = ranks_wanted / run.run_case.gpus_per_node;
    run.run_case.steps = steps - run.run_case.warmup;
    run.state = store::RunState::kDone;
    store_.create_run(run);
    std::vector<store::RankRecord> ranks(static_cast<std::size_t>(ranks_wanted));
    store::Batch batch(store_);
    for (int rank = 0; rank < ranks_wanted; ++rank) {
      store::RankRecord& record = ranks[static_cast<std::size_t>(rank)];
      record.rank = rank;
      record.clock.shared_clock = !is_sampled;
      record.clock.start = {0, 0, 20'000};
      record.clock.end = {steps * step_ns_, 0, 20'000};
      std::vector<Span> spans;
      for (int step = 0; step < steps; ++step) {
        const std::vector<Span> whole = spans_of(rank, step);
        const auto reduced = is_sampled && step % 16 != 0 ? summarize_step(whole, {}, 2) : std::nullopt;
        const std::vector<Span>& kept = reduced ? *reduced : whole;
        spans.insert(spans.end(), kept.begin(), kept.end());
      }
      stored_spans_ += spans.size();
      store_.append_spans("bench", rank, spans, std::vector<std::string>{"operator", "all_reduce", std::string(kReducedName)});
      std::vector<std::pair<std::uint32_t, double>> losses;
      for (int step = 0; step < steps; ++step) losses.emplace_back(step, 1.0 / (step + 1));
      store_.append_step_values("bench", rank, "loss", losses);
    }
    store_.put_ranks("bench", ranks);
    batch.commit();
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
  std::uint64_t stored_spans() const { return stored_spans_; }
  double file_bytes() const { return static_cast<double>(std::filesystem::file_size(file_)); }

 private:
  std::vector<Span> spans_of(int rank, int step) const {
    std::vector<Span> spans;
    const std::int64_t begin_ns = step * step_ns_;
    const std::int64_t scale = step_ns_ / kShortStep_ns;
    const auto add = [&](SpanKind kind, std::int64_t from_ns, std::int64_t to_ns) -> Span& {
      Span& span = spans.emplace_back();
      span.kind = kind;
      span.step = static_cast<std::uint32_t>(step);
      span.begin_ns = begin_ns + scale * from_ns;
      span.end_ns = begin_ns + scale * to_ns;
      return span;
    };
    for (int i = 0; i < kOperators; ++i) add(SpanKind::kBackward, i * 3000, i * 3000 + 2900);
    for (int i = 0; i < kCollectives; ++i) {
      Span& span = add(SpanKind::kCommunication, 30'000 + i * 15'000 + rank % 97 * 100, 44'000 + i * 15'000);
      span.name_id = 1;
      span.bytes = 1 << 20;
      span.bucket = static_cast<std::uint16_t>(i);
      span.correlation = collective_key(0, static_cast<std::uint64_t>(step * kCollectives + i + 1));
    }
    add(SpanKind::kStep, 0, kShortStep_ns);
    return spans;
  }

  std::int64_t step_ns_;
  std::filesystem::path file_;
  store::RunStore store_;
  std::uint64_t stored_spans_ = 0;
};

double peak_MB() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

void finalize_stored_spans(benchmark::State& state) {
  StoredRun run(8, static_cast<int>(state.range(0)), false);
  for (auto _ : state) finalize_run(run.store(), "bench");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(run.stored_spans()));
  state.counters["peak_MB"] = peak_MB();
}
BENCHMARK(finalize_stored_spans)->Arg(65)->Arg(20'000)->Unit(benchmark::kMillisecond);

/// Goal: the 3,600 steps of an hour at 4,096 ranks, a step a second, in 300 s. The runs that are measured are shorter: time and store
/// grow in proportion to the steps (compare the rows of equal ranks).
void finalize_many_ranks(benchmark::State& state) {
  const auto ranks = static_cast<int>(state.range(0));
  const auto steps = static_cast<int>(state.range(1));
  StoredRun run(ranks, steps, true);
  std::int64_t elapsed_ns = 0;
  for (auto _ : state) {
    const std::int64_t begin_ns = now_ns();
    finalize_run(run.store(), "bench");
    elapsed_ns += now_ns() - begin_ns;
  }
  const double hours = steps / 3600.0;
  state.counters["s_per_hour"] = 1e-9 * static_cast<double>(elapsed_ns) / static_cast<double>(state.iterations()) / hours;
  state.counters["store_GB_per_hour"] = 1e-9 * run.file_bytes() / hours;
  state.counters["bytes_per_rank_and_step"] = run.file_bytes() / ranks / steps;
  state.counters["peak_MB"] = peak_MB();
}
BENCHMARK(finalize_many_ranks)
    ->Args({128, 256})
    ->Args({512, 256})
    ->Args({512, 2048})
    ->Args({1024, 256})
    ->Args({2048, 256})
    ->Args({4096, 256})
    ->Args({4096, 1024})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

void summarize_stored_run(benchmark::State& state) {
  StoredRun run(8, static_cast<int>(state.range(0)), false);
  finalize_run(run.store(), "bench");
  for (auto _ : state) benchmark::DoNotOptimize(summarize(run.store(), "bench"));
}
BENCHMARK(summarize_stored_run)->Arg(65)->Arg(20'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ddbench::analyzer
