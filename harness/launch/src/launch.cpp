#include "ddbench/launch/launch.h"

#include <fmt/format.h>

#include "ddbench/launch/run_directory.h"
#include "ddbench/micro/micro.h"
#include "ddbench/record/error.h"
#include "ddbench/record/program_case.h"
#include "remote_launch.h"
#include "supervisor.h"

namespace ddbench::launch {
namespace {

constexpr int kSampledFromRanks = 32;

struct Name {
  const char* name;
  Launcher launcher;
};
constexpr Name kNames[] = {{"local", Launcher::kLocal},
                           {"mpirun", Launcher::kMpirun},
                           {"srun", Launcher::kSrun},
                           {"env", Launcher::kEnv}};

Launcher automatic(const LauncherOptions& options, const Variables& variables) {
  if (read_placement(variables).world_size > 1) return Launcher::kEnv;
  if (!options.hosts.empty() || !options.hostfile.empty()) return Launcher::kMpirun;
  return variables.contains("SLURM_JOB_ID") ? Launcher::kSrun : Launcher::kLocal;
}

void check_use(Launcher launcher, const std::string& name, const LauncherOptions& options) {
  const bool jobs = launcher == Launcher::kMpirun || launcher == Launcher::kSrun;
  const auto refuse = [&](bool given, const char* option) {
    if (given)
      throw Error(ErrorCode::kBadInput, fmt::format("{} has no use with --launcher {}", option, name));
  };
  refuse(!jobs && !options.hosts.empty(), "--hosts");
  refuse(launcher != Launcher::kMpirun && !options.hostfile.empty(), "--hostfile");
  refuse(launcher != Launcher::kSrun && !options.partition.empty(), "--partition");
  refuse(launcher != Launcher::kSrun && !options.account.empty(), "--account");
  refuse(!jobs && !options.arguments.empty(), "--launcher-args");
  refuse(launcher == Launcher::kLocal && !options.interface.empty(), "--interface");
  refuse(launcher == Launcher::kLocal && options.port != 0, "--port");
  refuse(launcher == Launcher::kLocal && options.spans != SentSpans::kAuto, "--spans");
  refuse(launcher != Launcher::kLocal && options.share_gpus, "--share-gpus");
}

RemoteJob job_of(const RunCase& run_case, const std::string& executable, const LauncherOptions& launcher) {
  const Variables variables = environment_variables();
  switch (launcher.launcher) {
    case Launcher::kMpirun: return mpirun_job(run_case, executable, launcher);
    case Launcher::kSrun: return srun_job(run_case, executable, launcher, variables);
    default: return env_job(run_case, executable, launcher, read_placement(variables));
  }
}

}  // namespace

Launcher choose_launcher(const std::string& name, const LauncherOptions& options) {
  if (name == "auto") {
    const Launcher launcher = automatic(options, environment_variables());
    for (const Name& each : kNames) {
      if (each.launcher == launcher)
        check_use(launcher, fmt::format("auto, which is {} here", each.name), options);
    }
    return launcher;
  }
  for (const Name& each : kNames) {
    if (name != each.name) continue;
    check_use(each.launcher, name, options);
    return each.launcher;
  }
  throw Error(ErrorCode::kBadInput,
              fmt::format("--launcher is \"{}\", but it must be auto, local, mpirun, srun or env", name));
}

StartedWorld started_world() {
  const Placement placement = read_placement(environment_variables());
  if (!placement.found()) {
    throw Error(ErrorCode::kBadInput,
                "--launcher env: nobody started this process as a rank: there is neither RANK (torchrun) nor "
                "OMPI_COMM_WORLD_RANK (mpirun) nor PMI_RANK, and it is no task of a Slurm step");
  }
  if (placement.world_size % placement.local_world_size != 0) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("--launcher env: {} ranks, {} of them on this node: every node must have as many",
                            placement.world_size, placement.local_world_size));
  }
  return {placement.rank, placement.world_size / placement.local_world_size, placement.local_world_size};
}

bool reduces_spans(const RunCase& run_case, SentSpans spans) {
  const bool trains = !is_program(run_case) && !micro::is_micro(run_case);
  if (spans == SentSpans::kSampled && !trains) {
    throw Error(ErrorCode::kBadInput,
                "--spans sampled: only the reference workloads know their steps while they run");
  }
  return spans == SentSpans::kSampled ||
         (spans == SentSpans::kAuto && trains && run_case.world_size() >= kSampledFromRanks);
}

void check_launcher(const RunCase& run_case, const LauncherOptions& launcher) {
  if (launcher.launcher == Launcher::kLocal) return;
  if (!run_case.link.empty()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("--link {}: only the network of --launcher local can be shaped", run_case.link));
  }
  if (launcher.launcher == Launcher::kMpirun && is_program_per_node(run_case)) {
    throw Error(
        ErrorCode::kBadInput,
        "--per-node: a program cannot start ranks of its own under mpirun; use --launcher srun, or env in a "
        "process a node");
  }
  reduces_spans(run_case, launcher.spans);
}

Endpoint report_endpoint(const LauncherOptions& options, const std::string& first_host) {
  if (!options.interface.empty()) return {address_of_interface(options.interface), options.port};
  if (first_host.empty()) return {"127.0.0.1", options.port};
  try {
    return {address_towards(first_host), options.port};
  } catch (const Error& error) {
    throw Error(
        error.code(),
        fmt::format("{}; name the interface that the ranks report to with --interface", error.message()),
        error.native_code(), error.where());
  }
}

LaunchOutcome launch(const RunCase& run_case, const LaunchOptions& options, const LauncherOptions& launcher,
                     LaunchObserver& observer) {
  if (launcher.launcher == Launcher::kLocal) {
    MachineMeter meter;
    LaunchOutcome outcome = launch_local(run_case, options, observer);
    outcome.counted.push_back(meter.stop());
    return outcome;
  }
  validate(run_case);
  check_launcher(run_case, launcher);
  LaunchOptions sending = options;
  sending.reduce_spans = reduces_spans(run_case, launcher.spans);
  RemoteProcesses processes(job_of(run_case, options.executable.string(), launcher), run_case.world_size(),
                            options.run_directory / "launcher.log");
  observer.on_network("", "");
  LaunchOutcome outcome = Supervisor(run_case, sending, observer, processes, {}).run();
  // Of ranks that were on this machine and were killed.
  remove_abandoned(run_directory_root());
  return outcome;
}

}  // namespace ddbench::launch
