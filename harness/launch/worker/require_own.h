#pragma once

#include "harness/launch/control/messages.h"
#include "harness/launch/control/tcp.h"
#include "harness/launch/start/placement.h"
#include "harness/launch/worker/own_command.h"

namespace ddbench::launch {

/// For a rank that shares no secret with its launcher, whose identity is then not proved: the assignment must
/// agree with the rank's own command line and environment. Case, rank and node must be equal, and become the
/// rank's own; numbers must be possible; checkpoints must be in the folder that the command line names.
/// Throws Error{kBadInput} naming the first difference and stating how ranks are given a secret.
void require_own(Assignment& assignment, const OwnCommand& own, const Placement& placement);

/// For a rank that shares a secret with its launcher: throws Error{kBadInput} naming the fields in which the launcher's case differs
/// from that of the rank's own command line, labels and the SKU aside. A command line that does not say what to run (--resume)
/// agrees with every case.
void require_same_case(const Assignment& assignment, const OwnCommand& own);

/// Where the program of such a rank finds rank 0: MASTER_ADDR and MASTER_PORT of its own environment. Throws
/// Error{kBadInput} when they are not set.
Endpoint own_master(const Placement& placement);

}  // namespace ddbench::launch
