#pragma once

#include "harness/launch/control/launcher_options.h"
#include "harness/launch/worker/own_command.h"

/// Processes that somebody else has started as ranks.
namespace ddbench::launch {

/// The world that this process was started in, for Launcher::kEnv.
struct StartedWorld {
  int rank = 0;
  int nodes = 1;
  int gpus_per_node = 1;
};
/// Throws Error{kBadInput} when this process was not started as a rank, or its variables contradict each
/// other.
StartedWorld started_world();

/// The body of `ddbench worker` without an inherited socket: connects to the launcher that the environment
/// names and is the rank that it was started as. Returns the exit code.
int run_remote_worker();

/// The body of a rank other than 0 on Launcher::kEnv: as run_remote_worker, with rank 0's process as
/// launcher. Without a shared secret (DDBENCH_TOKEN) the rank accepts only what `own` states.
int run_started_rank(const LauncherOptions& launcher, const OwnCommand& own);

}  // namespace ddbench::launch
