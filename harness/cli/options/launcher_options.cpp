#include "harness/cli/options/launcher_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>

#include "core/error.h"
#include "harness/cli/options/run_options.h"
#include "harness/launch/remote/started_rank.h"
#include "probes/cuda/cuda_probe.h"

namespace ddbench::cli {
namespace {

constexpr double kDay_s = 86'400;

/// Nodes and ranks already exist; the command line must not contradict them.
void take_world(const launch::StartedWorld& world, const LauncherCommandOptions& options, RunCase& run_case) {
  const auto refuse = [&](const char* option, int value) {
    throw Error(ErrorCode::kBadInput, fmt::format("{} {}, but {} nodes x {} ranks were started; leave it out", option, value, world.nodes,
                                                  world.gpus_per_node));
  };
  if (options.names_nodes && run_case.nodes != world.nodes) refuse("--nodes", run_case.nodes);
  if (options.names_gpus && run_case.gpus_per_node != world.gpus_per_node) refuse("--gpus", run_case.gpus_per_node);
  run_case.nodes = world.nodes;
  run_case.gpus_per_node = world.gpus_per_node;
}

launch::SentSpans sent_spans(const std::string& text) {
  if (text == "auto") return launch::SentSpans::kAuto;
  if (text == "all") return launch::SentSpans::kAll;
  if (text == "sampled") return launch::SentSpans::kSampled;
  throw Error(ErrorCode::kBadInput,
              fmt::format("--spans is \"{}\", but it must be auto, all or sampled", text));
}

}  // namespace

void add_launcher_options(CLI::App& app, LauncherCommandOptions& options) {
  const auto add = [&](const char* name, auto& value, const char* meaning) {
    return app.add_option(name, value, meaning)->group("Launcher");
  };
  add("--launcher", options.name,
      "How ranks are launched: local (this machine), mpirun (Open MPI), srun (Slurm), env (ranks already "
      "started by torchrun, mpirun, srun, Kubeflow or Azure ML, each as this very command), or auto: env as one "
      "of several ranks, mpirun with hosts, srun in a Slurm allocation, else local")
      ->capture_default_str();
  add("--hosts", options.hosts, "Hosts of the nodes, for mpirun and srun: a,b or a:4,b:4");
  add("--hostfile", options.launcher.hostfile, "Hosts of the nodes as a file of mpirun's");
  add("--rankfile", options.launcher.rankfile, "Host and cores of each rank as a file of Open MPI's mpirun");
  add("--partition", options.launcher.partition, "Slurm partition");
  add("--account", options.launcher.account, "Slurm account");
  add("--launcher-args", options.arguments, "Further arguments for mpirun or srun, in one string");
  add("--interface", options.launcher.interface,
      "Network interface of this machine that the ranks report to (default: the one that leads to the first "
      "host)");
  add("--port", options.launcher.port,
      "Port that the ranks report to (default: a free one; with env, MASTER_PORT + 1)")
      ->check(CLI::Range(1, 65535));
  add("--spans", options.spans,
      "Span data that ranks of built-in workloads send from other machines: all; sampled (full spans of 1 step in "
      "16 and of slow steps, and what the step partition and the collectives need of the rest); auto (sampled from 32 ranks)")
      ->capture_default_str();
  add("--gpu-detail", options.gpu_detail,
      "What is recorded of CUDA graphs: kernel (each of their kernels, the default) or graph (each launch as a whole, which costs "
      "less; collectives that a program has in graphs are then not seen, and built-in workloads time their operators by events)")
      ->check(CLI::IsMember({"kernel", "graph"}));
  app.add_flag("--share-gpus", options.launcher.share_gpus,
               "local: let ranks share GPUs where there are fewer; the run is marked oversubscribed")
      ->group("Launcher");
  add("--start-timeout", options.start_timeout_s, "Seconds for all ranks to start and find each other")
      ->capture_default_str();
}

void resolve(LauncherCommandOptions& options, RunCase& run_case) {
  if (!std::isfinite(options.start_timeout_s) || options.start_timeout_s < 1 ||
      options.start_timeout_s > kDay_s) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("--start-timeout is {}, but it must be from 1 to {} seconds",
                            options.start_timeout_s, kDay_s));
  }
  launch::LauncherOptions& launcher = options.launcher;
  launcher.start_deadline =
      std::chrono::milliseconds(static_cast<std::int64_t>(options.start_timeout_s * 1000));
  launcher.spans = sent_spans(options.spans);
  if (!options.gpu_detail.empty()) ::setenv(cuda::kGpuDetailVariable, options.gpu_detail.c_str(), 1);  // ranks inherit it
  launcher.hosts = options.hosts.empty() ? std::vector<std::string>() : text_list(options.hosts, "--hosts");
  std::string arguments = options.arguments;
  launcher.arguments = arguments.empty() ? std::vector<std::string>() : CLI::detail::split_up(arguments);
  launcher.launcher = launch::choose_launcher(options.name, launcher);
  if (launcher.launcher == launch::Launcher::kEnv) take_world(launch::started_world(), options, run_case);
}

bool is_other_started_rank(const LauncherCommandOptions& options) {
  return options.launcher.launcher == launch::Launcher::kEnv && launch::started_world().rank != 0;
}

std::optional<int> be_started_rank(const LauncherCommandOptions& options, const launch::OwnCommand& own) {
  if (!is_other_started_rank(options)) return std::nullopt;
  return launch::run_started_rank(options.launcher, own);
}

}  // namespace ddbench::cli
