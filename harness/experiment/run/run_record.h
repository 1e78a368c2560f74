#pragma once

#include "core/run_case/records.h"
#include "harness/experiment/run/execute_run.h"
#include "harness/launch/control/launch_contract.h"
#include "probes/machine/machine.h"

namespace ddbench::experiment {

/// The record of a run that is about to start on this machine, with the facts that are known before: hardware, software,
/// NCCL's settings, and what the work computes and sends. Throws Error{kBadInput} for a workload that does not exist.
store::RunRecord new_record(const RunCase& run_case, const ExecuteOptions& options, const host::Machine& machine);

/// The record after the launch: state, network and transport as found, facts and hardware of the ranks' machines, and the
/// provenance that follows.
store::RunRecord ended_record(store::RunRecord run, const launch::LaunchOutcome& outcome, const host::Machine& machine,
                              bool may_share_gpus);

}  // namespace ddbench::experiment
