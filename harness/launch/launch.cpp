#include "harness/launch/launch.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/run_case/program_case.h"
#include "harness/launch/local/local_launch.h"
#include "harness/launch/remote/remote_launch.h"
#include "harness/launch/supervisor/supervisor.h"
#include "harness/launch/transfer/shipped_files.h"

namespace ddbench::launch {
namespace {

struct Name {
  const char* name;
  Launcher launcher;
};
constexpr Name kNames[] = {{"local", Launcher::kLocal},
                           {"mpirun", Launcher::kMpirun},
                           {"srun", Launcher::kSrun},
                           {"env", Launcher::kEnv}};

Launcher automatic(const LauncherOptions& options, Variables variables) {
  variables.erase("TF_CONFIG");  // it may be meant for the program: use --launcher env for it
  if (read_placement(variables).world_size > 1) return Launcher::kEnv;
  if (!options.hosts.empty() || !options.hostfile.empty() || !options.rankfile.empty()) return Launcher::kMpirun;
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
  refuse(launcher != Launcher::kMpirun && !options.rankfile.empty(), "--rankfile");
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
    case Launcher::kMpirun: return mpirun_job(run_case, executable, launcher, installed_mpirun());
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

LaunchOutcome launch(const RunCase& run_case, const LaunchOptions& options, const LauncherOptions& launcher,
                     LaunchObserver& observer) {
  if (launcher.launcher == Launcher::kLocal) {
    MachineCounters meter;
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
  remove_files_of_killed_ranks();
  return outcome;
}

}  // namespace ddbench::launch
