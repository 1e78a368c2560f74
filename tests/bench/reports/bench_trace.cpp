// `report --format perfetto` of a run of many ranks: time, and the peak memory of a process that does nothing else.
//   bench_trace RANKS STEPS SPANS_PER_STEP [STORE]
// STORE is made when it is missing, and kept; without it, a temporary one is used.

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/store/rows/run_store.h"
#include "core/text/number_ranges.h"
#include "reports/formats/perfetto/perfetto.h"

namespace {

namespace fs = std::filesystem;
using namespace ddbench;

constexpr const char* kRun = "20261121T000000-0000babe";
constexpr std::int64_t kStep_ns = 100'000'000;
constexpr int kCollectivesAStep = 8;

struct Size {
  int ranks;
  int steps;
  int spans;  ///< of a rank in a step
};

/// Every span is recorded when it ends, so that the step comes last.
void add_step(const Size& size, int rank, int step, std::vector<Span>& spans) {
  const std::int64_t begin_ns = step * kStep_ns;
  const std::int64_t each_ns = kStep_ns / (size.spans + 1);
  for (int i = 0; i < size.spans; ++i) {
    Span span;
    span.step = static_cast<std::uint32_t>(step);
    span.begin_ns = begin_ns + i * each_ns + rank * 10;
    span.end_ns = span.begin_ns + each_ns / 2;
    span.kind = SpanKind::kForward;
    span.name_id = static_cast<std::uint32_t>(i % 4);
    if (i < kCollectivesAStep) {
      span.kind = SpanKind::kCommunication;
      span.lane = Lane::kCommunication;
      span.bytes = 25'000'000;
      span.correlation = 1 + static_cast<std::uint64_t>(step) * kCollectivesAStep + static_cast<std::uint64_t>(i);
    }
    spans.push_back(span);
  }
  Span whole;
  whole.kind = SpanKind::kStep;
  whole.step = static_cast<std::uint32_t>(step);
  whole.begin_ns = begin_ns;
  whole.end_ns = begin_ns + kStep_ns;
  spans.push_back(whole);
}

void make_store(const fs::path& file, const Size& size) {
  store::RunStore store = store::RunStore::open(file, store::OpenMode::kReadWrite);
  store::Batch batch(store);
  store::RunRecord run;
  run.id = kRun;
  run.state = store::RunState::kDone;
  run.run_case.nodes = std::max(1, size.ranks / 8);
  run.run_case.gpus_per_node = std::min(size.ranks, 8);
  run.run_case.warmup = 0;
  run.run_case.steps = size.steps;
  store.create_run(run);
  for (int rank = 0; rank < size.ranks; ++rank) {
    store::RankRecord record;
    record.rank = rank;
    record.node = rank / 8;
    record.host = "node" + std::to_string(rank / 8);
    store.put_ranks(run.id, std::vector{record});
    std::vector<Span> spans;
    std::vector<store::StepRecord> steps;
    for (int step = 0; step < size.steps; ++step) {
      add_step(size, rank, step, spans);
      store::StepRecord row;
      row.rank = rank;
      row.step = static_cast<std::uint32_t>(step);
      row.begin_ns = step * kStep_ns;
      row.duration_ns = row.partition[store::StepPart::kIdle] = kStep_ns;
      row.loss = 2.0 / (1 + step);
      steps.push_back(row);
    }
    store.append_spans(run.id, rank, spans, std::vector<std::string>{"linear", "gelu", "norm", "matmul"});
    store.put_steps(run.id, steps);
  }
  batch.commit();
}

void print_trace(const char* what, const fs::path& file, const reports::TraceSelection& selection) {
  const store::RunStore store = store::RunStore::open(file, store::OpenMode::kReadOnly);
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t bytes = 0;
  const reports::TraceCounts counts =
      reports::write_perfetto(store, kRun, selection, [&](std::string_view piece) { bytes += piece.size(); });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%-24s %10llu slices %9.1f MB %7.2f s  peak RSS %6.1f MB  (%zu slices waiting, pieces of %zu bytes, %zu collectives)\n",
              what, static_cast<unsigned long long>(counts.slices), static_cast<double>(bytes) / 1e6, seconds,
              static_cast<double>(usage.ru_maxrss) * 1024 / 1e6, counts.most_waiting, counts.largest_piece, counts.collectives);
  std::fflush(stdout);
}

/// In a process of its own, whose memory is counted from its start.
void in_a_child(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    std::_Exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) std::exit(1);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) {
    std::fprintf(stderr, "bench_trace RANKS STEPS SPANS_PER_STEP [STORE]\n");
    return 2;
  }
  const Size size{std::atoi(arguments[1]), std::atoi(arguments[2]), std::atoi(arguments[3])};
  std::string folder = (fs::temp_directory_path() / "ddbench-bench-XXXXXX").string();
  const bool is_kept = count > 4;
  if (!is_kept && ::mkdtemp(folder.data()) == nullptr) return 1;
  const fs::path file = is_kept ? fs::path(arguments[4]) : fs::path(folder) / "results.db";
  if (!fs::exists(file)) in_a_child([&] { make_store(file, size); });
  in_a_child([&] { print_trace("all", file, {}); });
  in_a_child([&] { print_trace("8 ranks", file, {.ranks = NumberRanges({{0, 7}}), .steps = {}}); });
  in_a_child([&] { print_trace("8 ranks, 10 steps", file, {.ranks = NumberRanges({{0, 7}}), .steps = NumberRanges({{10, 19}})}); });
  if (!is_kept) fs::remove_all(folder);
  return 0;
}
