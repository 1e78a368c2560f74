#pragma once

#include <string>

#include "harness/launch/control/launch_contract.h"
#include "harness/launch/control/launcher_options.h"

/// Starting the ranks of a run, wherever they are.
namespace ddbench::launch {

/// Inverse of the names "auto", "local", "mpirun", "srun", "env" of --launcher; "auto" is env in a process
/// that was started as one of several ranks, mpirun when hosts are given, srun inside a Slurm allocation,
/// else local. Throws Error{kBadInput} for other names, and for options that the launcher has no use for,
/// naming them.
Launcher choose_launcher(const std::string& name, const LauncherOptions& options);

/// Throws Error{kBadInput} for a case that the launcher does not support: a shaped link, a program that
/// starts its own ranks, sampled spans for a case without known steps.
void check_launcher(const RunCase& run_case, const LauncherOptions& launcher);

/// Runs every rank of the case according to LauncherOptions and returns when all have ended. Errors and
/// leftovers as launch_local; also throws as check_launcher. With Launcher::kEnv only rank 0 may call it.
LaunchOutcome launch(const RunCase& run_case, const LaunchOptions& options, const LauncherOptions& launcher,
                     LaunchObserver& observer);

}  // namespace ddbench::launch
