#pragma once

#include "harness/launch/control/launch_contract.h"

namespace ddbench::launch {

/// Runs every rank of the case on this machine and returns when all have ended. Nodes are network namespaces
/// joined by veth pairs and a bridge if the kernel allows it (root, or inside a user namespace), else plain
/// loopback; the outcome states which. Nothing outside the run's own namespaces is changed; all of it
/// disappears with the processes, even when this one is killed. Does not throw when ranks fail: the outcome
/// states it. Throws Error for a case this machine cannot start.
LaunchOutcome launch_local(const RunCase& run_case, const LaunchOptions& options, LaunchObserver& observer);

}  // namespace ddbench::launch
