#pragma once

#include "harness/launch/control/launch_contract.h"
#include "harness/launch/control/rank_processes.h"
#include "harness/launch/supervisor/supervised_ranks.h"

namespace ddbench::launch {

/// Corrects the state and the reason of a run that was not done by what the scheduler did to its job. A scheduler ends ranks by the
/// same signal for every reason, and only its launcher's end shows which one it was. A lost node names its ranks.
void settle_job_end(const JobEnd& end, const SupervisedRanks& ranks, LaunchOutcome& outcome);

}  // namespace ddbench::launch
