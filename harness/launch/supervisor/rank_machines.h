#pragma once

#include "core/run_case/run_case.h"
#include "harness/launch/control/launch_contract.h"
#include "harness/launch/supervisor/supervised_ranks.h"

namespace ddbench::launch {

/// The place of a rank among those that share its kernel and may run on the same cores: they take these in turn, whichever node they
/// belong to. Ranks that a launcher has bound to cores of their own have place 0 there.
int core_slot_on_machine(const SupervisedRanks& ranks, const SupervisedRank& rank);

/// Sets the machines, the provenance and notes of a run whose ranks are elsewhere, from what they reported. Leaves all as it is when
/// a rank never joined: then nothing is known.
void describe_machines(const RunCase& run_case, const SupervisedRanks& ranks, LaunchOutcome& outcome);

/// Moves what each machine counted to the outcome. All nodes on one machine count the same, so the first report stands for it;
/// where nodes are containers, interfaces and GPUs that only the others see are missing.
void take_counts(SupervisedRanks& ranks, LaunchOutcome& outcome);

}  // namespace ddbench::launch
