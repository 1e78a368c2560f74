#pragma once

#include <sys/types.h>

#include "harness/launch/local/fabric.h"

namespace ddbench::launch {

/// The port that the ranks get as MASTER_PORT: a fixed one in our own network namespace, where no other process
/// can use it; otherwise one that is free on the machine's lo, and so are the ports behind it that TF_CONFIG names.
int rendezvous_port(const FabricPlan& plan, Isolation isolation);

/// Forks and executes one rank in its node's network namespace (-1: the current one), with the environment
/// that torchrun sets (including OMP_NUM_THREADS=1, unless the user set it). The child reports kStarted or
/// kExecFailed over `socket`. Returns its process id in this namespace. Throws Error{kEnvironment} when no
/// process can be made.
pid_t start_rank(const FabricPlan& plan, int rank, Isolation isolation, int port, int network_namespace,
                 int socket);

}  // namespace ddbench::launch
