#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "ddbench/launch/local_launch.h"

/// Starting the ranks of a run, wherever they are.
namespace ddbench::launch {

enum class Launcher {
  kLocal,   ///< on this machine, nodes as network namespaces
  kMpirun,  ///< Open MPI starts them on the hosts
  kSrun,    ///< Slurm starts them, in the allocation that this process is in or in a new one
  kEnv,  ///< they are there: this process was started as one of them (torchrun, mpirun, srun, Kubeflow, Azure
         ///< ML)
};

/// Which spans ranks elsewhere send of the steps that they train.
enum class SentSpans {
  kAuto,  ///< all, and sampled from 32 ranks on
  kAll,
  kSampled,  ///< all of one step in 16 and of slow ones; of the others what their partition needs
};

struct LauncherOptions {
  Launcher launcher = Launcher::kLocal;
  std::vector<std::string> hosts;      ///< mpirun and srun: where the nodes are; "name" or "name:slots"
  std::string hostfile;                ///< the same as a file of mpirun's, its path
  std::string partition;               ///< of Slurm
  std::string account;                 ///< of Slurm
  std::vector<std::string> arguments;  ///< handed to mpirun or srun as they are
  std::string interface;  ///< whose address the ranks report to; empty: the one that leads to them
  int port = 0;           ///< where they report to; 0: one that is free (env: MASTER_PORT + 1)
  SentSpans spans = SentSpans::kAuto;
  bool share_gpus = false;                            ///< local: more ranks than GPUs are no mistake
  std::chrono::milliseconds start_deadline{120'000};  ///< for all ranks to connect and find each other
};

/// Inverse of the names "auto", "local", "mpirun", "srun", "env" of --launcher; "auto" is env in a process
/// that was started as one of several ranks, mpirun when hosts are given, srun inside a Slurm allocation,
/// else local. Throws Error{kBadInput} for other names, and for options that the launcher has no use for,
/// naming them.
Launcher choose_launcher(const std::string& name, const LauncherOptions& options);

/// Throws Error{kBadInput} for a case that the launcher cannot give: a shaped link, a program that starts its
/// own ranks, sampled spans of what knows no steps.
void check_launcher(const RunCase& run_case, const LauncherOptions& launcher);

/// The world that this process was started in, for Launcher::kEnv.
struct StartedWorld {
  int rank = 0;
  int nodes = 1;
  int gpus_per_node = 1;
};
/// Throws Error{kBadInput} when nobody started this process as a rank, or what is told is contradictory.
StartedWorld started_world();

/// Runs every rank of the case as LauncherOptions says and returns when all have ended. As launch_local for
/// what it throws and what it leaves behind, and as check_launcher. On Launcher::kEnv only rank 0 may call
/// it.
LaunchOutcome launch(const RunCase& run_case, const LaunchOptions& options, const LauncherOptions& launcher,
                     LaunchObserver& observer);

/// The body of `ddbench worker` without an inherited socket: connects to the launcher that the environment
/// names and is the rank that it was started as. Returns the exit code.
int run_remote_worker();

/// The body of a rank other than 0 on Launcher::kEnv: as run_remote_worker, with rank 0's process as
/// launcher.
int run_started_rank(const LauncherOptions& launcher);

}  // namespace ddbench::launch
