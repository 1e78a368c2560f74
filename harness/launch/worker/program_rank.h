#pragma once

#include "harness/launch/worker/machine_counting.h"
#include "harness/launch/worker/worker.h"

namespace ddbench::launch {

/// A rank whose case is a program of the user, from its assignment to its result: starts the program, which places and pins
/// its threads itself and whose collectives are none of ddbench's, and waits for its end. `remote`: null for a rank
/// with an inherited socket. Throws Error when the program cannot be started or failed, and as WorkerSession.
void run_program(WorkerSession& session, const Assignment& assignment, const RemoteRank* remote,
                 MachineCounting& counting);

}  // namespace ddbench::launch
