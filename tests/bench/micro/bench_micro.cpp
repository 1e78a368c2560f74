// An all-reduce as `ddbench micro` times it over a plain loop of what carries it: Gloo's, and MPI's, on equal
// ranks, cores and sizes. And Gloo's over MPI's.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "core/clock.h"
#include "forked_ranks.h"
#include "harness/microbench/lock_step.h"
#include "plain_gloo.h"
#include "zeroed_all_reduce.h"

namespace ddbench {
namespace {

constexpr int kRounds = 9;

void pin(int rank) {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return;
  int wanted = rank % CPU_COUNT(&cores);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &cores) || wanted-- != 0) continue;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    ::sched_setaffinity(0, sizeof cores, &cores);
    return;
  }
}

struct Times {
  double ours_ns = 0;
  double gloo_ns = 0;
  double pair_ratio = 0;  ///< median over rounds of ours over Gloo's, in turn
};

/// Both in turn, so that what else the machine does meets both.
std::string measure(int rank, int world, std::int64_t bytes, collective::KeyValueStore& store,
                    const std::filesystem::path& directory) {
  pin(rank);
  const auto communicator = collective::make_communicator("gloo", {.rank = rank, .world_size = world}, store);
  const auto plain = bench::plain_gloo_all_reduce(rank, world, directory);
  bench::ZeroedAllReduce all_reduce(*communicator, bytes);
  std::vector<double> ours;
  std::vector<double> gloos;
  std::vector<double> ratios;
  for (int round = 0; round < kRounds; ++round) {
    const auto timed = micro::time_in_lock_step(*communicator, 0.2, [&] { all_reduce.call.run(); });
    const auto of_gloo = micro::time_in_lock_step(*communicator, 0.2, [&] {
      plain(all_reduce.tensor.floats().data(), all_reduce.tensor.floats().size());
    });
    ours.push_back(bench::median(timed.times_ns));
    gloos.push_back(bench::median(of_gloo.times_ns));
    ratios.push_back(ours.back() / gloos.back());
  }
  return fmt::format("{} {} {}", bench::median(ours), bench::median(gloos), bench::median(ratios));
}

#ifdef MPIEXEC
struct MpiTimes {
  double ours_ns = 0;
  double plain_ns = 0;  ///< 0: it could not be run
  double pair_ratio = 0;
};
/// Over TCP, as Gloo.
MpiTimes measure_mpi(int world, std::int64_t bytes) {
  const std::string command = fmt::format(
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 {} -n {} --oversubscribe --mca btl tcp,self "
      "--mca btl_tcp_if_include lo --mca pml ob1 {} {}",
      MPIEXEC, world, MPI_ALL_REDUCE, bytes);
  std::FILE* output = ::popen(command.c_str(), "r");
  if (output == nullptr) return {};
  MpiTimes times;
  const bool read =
      std::fscanf(output, "%lf %lf %lf", &times.ours_ns, &times.plain_ns, &times.pair_ratio) == 3;
  return ::pclose(output) == 0 && read ? times : MpiTimes{};
}
#endif

void all_reduce(benchmark::State& state) {
  const int world = static_cast<int>(state.range(0));
  const std::int64_t bytes = state.range(1);
  Times times;
  for (auto _ : state) {
    const test::TemporaryDirectory directory;
    const auto outcomes = test::run_ranks(
        world,
        [&](int rank, collective::KeyValueStore& store) {
          return measure(rank, world, bytes, store, directory.path());
        },
        std::chrono::seconds(300));
    if (std::sscanf(outcomes[0].text.c_str(), "%lf %lf %lf", &times.ours_ns, &times.gloo_ns,
                    &times.pair_ratio) != 3) {
      return state.SkipWithError(outcomes[0].text.c_str());
    }
    state.SetIterationTime(times.ours_ns * 1e-9);
  }
  state.counters["gloo_us"] = times.gloo_ns * 1e-3;
  state.counters["over_gloo"] = times.pair_ratio;
#ifdef MPIEXEC
  if (const MpiTimes mpi = measure_mpi(world, bytes); mpi.plain_ns > 0) {
    state.counters["mpi_us"] = mpi.plain_ns * 1e-3;
    state.counters["over_mpi"] = mpi.pair_ratio;
    state.counters["gloo_over_mpi"] = times.gloo_ns / mpi.plain_ns;
  }
#endif
}
BENCHMARK(all_reduce)
    ->ArgsProduct({{2, 4}, {1 << 20, 4 << 20, 16 << 20, 64 << 20}})
    ->ArgNames({"ranks", "bytes"})
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ddbench

BENCHMARK_MAIN();
