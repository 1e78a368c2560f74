#pragma once

#include <sys/types.h>

#include "harness/launch/local/fabric.h"

namespace ddbench::launch {

/// The port that the ranks get as MASTER_PORT: nobody else's in a namespace of our own, one that is free on
/// the machine's lo.
int rendezvous_port(Isolation isolation);

/// Forks and executes one rank in its node's network namespace (-1: the current one), with the environment
/// that torchrun gives (and OMP_NUM_THREADS=1, as it does, unless the user set it). The child tells kStarted
/// or kExecFailed over `socket`. Returns its process id in this namespace. Throws Error{kEnvironment} when no
/// process can be made.
pid_t start_rank(const FabricPlan& plan, int rank, Isolation isolation, int port, int network_namespace,
                 int socket);

}  // namespace ddbench::launch
