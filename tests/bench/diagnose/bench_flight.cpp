// What `ddbench diagnose` costs a rank while it runs: processor time of a collective's bookkeeping with the flight recorder and without
// it, in turns in one process, and of the launcher's look at all ranks. No span is recorded for either.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/diagnose/live/live_verdict.h"
#include "harness/launch/worker/training_state.h"

namespace ddbench::test {
namespace {

constexpr int kCollectives = 200'000;
constexpr int kRounds = 15;

double processor_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

double median_of(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

double of_a_collective(launch::TrainingState& state, std::uint64_t& sequence) {
  const double begin = processor_ns();
  for (int i = 0; i < kCollectives; ++i) {
    state.on_collective_begin("all_reduce", ++sequence);
    state.on_collective_end(sequence);
  }
  return (processor_ns() - begin) / kCollectives;
}

void print_collectives() {
  const std::string file = std::filesystem::temp_directory_path() / ("bench_flight." + std::to_string(::getpid()) + ".flight");
  launch::TrainingState plain;
  launch::TrainingState kept;
  kept.keep_flight(file, 1);
  std::vector<double> without;
  std::vector<double> with;
  std::vector<double> ratios;
  std::uint64_t sequence = 0;
  for (int round = 0; round < kRounds; ++round) {
    without.push_back(of_a_collective(plain, sequence));
    with.push_back(of_a_collective(kept, sequence));
    ratios.push_back(with.back() / without.back());
  }
  std::filesystem::remove(file);
  std::printf("a collective's bookkeeping: %.0f ns of processor without the flight recorder, %.0f ns with it: %.2f times (median of %d turns)\n",
              median_of(without), median_of(with), median_of(ratios), kRounds);
  std::printf("spans: none for either; of a step of 10 ms with 4 collectives the flight recorder is %.5f%%\n",
              100 * 4 * (median_of(with) - median_of(without)) / 10e6);
}

void print_looks(int ranks) {
  std::vector<int> nodes;
  for (int rank = 0; rank < ranks; ++rank) nodes.push_back(rank / 8);
  analyzer::LiveVerdict live(nodes, 1);
  std::vector<double> times;
  for (int second = 1; second <= 40; ++second) {
    const double begin = processor_ns();
    for (int rank = 0; rank < ranks; ++rank) {
      for (int heartbeat = 1; heartbeat <= 5; ++heartbeat) {  // as many a second
        const auto steps = static_cast<std::uint64_t>(100 * second + 20 * heartbeat);
        live.add({.rank = rank, .steps = steps, .collectives_ns = static_cast<std::int64_t>(steps) * (rank == 1 ? 1'000'000 : 3'000'000)});
      }
    }
    live.look(std::int64_t{second} * 1'000'000'000);
    times.push_back(processor_ns() - begin);
  }
  std::printf("the launcher's look at %d ranks: %.1f us of processor a second, %.4f%% of a core\n", ranks, median_of(times) / 1e3,
              median_of(times) / 1e7);
}

}  // namespace
}  // namespace ddbench::test

int main() {
  ddbench::test::print_collectives();
  for (const int ranks : {8, 64, 1024}) ddbench::test::print_looks(ranks);
}
