// The launcher with simulated ranks: time until all are ready, and its processor time while they train.
//   bench_launcher [--mode nccl|gloo] [--seconds S] RANKS...
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "core/files/temporary_directory.h"
#include "core/unique_handle.h"
#include "harness/launch/remote/remote_processes.h"
#include "harness/launch/supervisor/supervisor.h"
#include "harness/launch/trust/run_token.h"
#include "simulated_ranks.h"

namespace ddbench::bench {
namespace {

using namespace std::chrono_literals;

Progress& shared_progress(const std::filesystem::path& path) {
  const UniqueFd file(static_cast<int>(check_posix(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), path.string())));
  check_posix(::ftruncate(file.get(), sizeof(Progress)), path.string());
  void* const memory = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) throw Error(ErrorCode::kEnvironment, "cannot map " + path.string());
  return *static_cast<Progress*>(memory);
}

double processor_s() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/// Measures from tick to tick while all ranks train.
class Meter final : public launch::LaunchObserver {
 public:
  Meter(const Progress& progress, int ranks) : progress_(progress), ranks_(ranks) {}
  void on_network(const std::string&, const std::string&) override {}
  void on_progress(const launch::RankProgress&) override {}
  void on_tick() override {
    if (progress_.ready < ranks_) return;
    const double now = processor_s();
    if (++ticks_ == 1) {
      first_ns_ = now_ns();
      first_s_ = now;
    }
    last_ns_ = now_ns();
    last_s_ = now;
  }
  bool interrupted() override { return false; }
  double share() const { return ticks_ < 3 ? 0 : (last_s_ - first_s_) * 1e9 / static_cast<double>(last_ns_ - first_ns_); }

 private:
  const Progress& progress_;
  const int ranks_;
  int ticks_ = 0;
  std::int64_t first_ns_ = 0, last_ns_ = 0;
  double first_s_ = 0, last_s_ = 0;
};

void measure(const Simulation& simulation) {
  const TemporaryDirectory directory(temporary_root(), fmt::format("bench-launcher-{}", simulation.ranks));
  const std::filesystem::path shared = directory.path() / "progress";
  const Progress& progress = shared_progress(shared);
  RunCase run_case;
  run_case.gpus_per_node = 8;
  run_case.nodes = simulation.ranks / run_case.gpus_per_node;
  run_case.steps = 1'000'000;
  launch::LaunchOptions options;
  options.run_id = "simulated";
  options.run_directory = directory.path();
  launch::RemoteJob job;
  job.launcher = "simulated";
  job.command = {"/proc/self/exe", "--simulate", shared.string(), "--mode", simulation.mode, "--seconds", fmt::to_string(simulation.seconds), fmt::to_string(simulation.ranks)};
  job.command.front() = std::filesystem::read_symlink("/proc/self/exe");
  job.listen = {"127.0.0.1", 0};
  job.credentials.started = {launch::new_token(), {}};
  Meter meter(progress, simulation.ranks);
  launch::RemoteProcesses processes(std::move(job), simulation.ranks, directory.path() / "job.log");
  launch::Supervisor supervisor(run_case, options, meter, processes, {});
  const std::int64_t begin_ns = now_ns();
  const double begin_s = processor_s();
  const launch::LaunchOutcome outcome = supervisor.run();
  const double ready_s = 1e-9 * static_cast<double>(progress.all_ready_ns - begin_ns);
  if (outcome.state != store::RunState::kDone) throw Error(ErrorCode::kRunFailed, outcome.reason);
  fmt::print("{:>6} ranks  {:<5} ready {:7.2f} s   launcher {:5.1f}% of a core while they train   {:.1f} s in all   rendezvous {:.1f} MB\n",
             simulation.ranks, simulation.mode, ready_s, 100 * meter.share(), processor_s() - begin_s, 1e-6 * static_cast<double>(progress.received_bytes));
}

int run(int argc, char** argv) {
  CLI::App app("The launcher with simulated ranks");
  std::vector<int> ranks;
  std::string simulated;
  Simulation simulation{.ranks = 0, .seconds = 10, .mode = "nccl"};
  app.add_option("ranks", ranks, "Numbers of ranks, multiples of 8")->required();
  app.add_option("--mode", simulation.mode, "What the ranks exchange")->check(CLI::IsMember({"nccl", "gloo"}));
  app.add_option("--seconds", simulation.seconds, "Training time");
  app.add_option("--simulate", simulated, "For the process of the simulated ranks");
  CLI11_PARSE(app, argc, argv);
  launch::allow_open_files(*std::max_element(ranks.begin(), ranks.end()));
  for (const int count : ranks) {
    if (count < 8 || count % 8 != 0) throw Error(ErrorCode::kBadInput, fmt::format("{} ranks: give multiples of 8", count));
    simulation.ranks = count;
    if (!simulated.empty()) simulate_ranks(simulation, shared_progress(simulated));
    if (simulated.empty()) measure(simulation);
  }
  return 0;
}

}  // namespace
}  // namespace ddbench::bench

int main(int argc, char** argv) {
  try {
    return ddbench::bench::run(argc, argv);
  } catch (const ddbench::Error& error) {
    fmt::print(stderr, "bench_launcher: {}\n", error.message());
    return error.exit_code();
  }
}
