#pragma once

#include "harness/launch/control/launch_contract.h"

namespace ddbench::launch {

/// Runs every rank of the case on this machine and returns when all have ended. Nodes are network namespaces
/// joined by veth pairs and a bridge where the kernel allows it (root, or inside a user namespace), else
/// plain loopback; the outcome says which. Nothing outside of the run's own namespaces is touched; all of it
/// disappears with the processes, even when this one is killed. Does not throw for what ranks do: that is the
/// outcome. Throws Error for a case this machine cannot start.
LaunchOutcome launch_local(const RunCase& run_case, const LaunchOptions& options, LaunchObserver& observer);

}  // namespace ddbench::launch
