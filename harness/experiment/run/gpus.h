#pragma once

#include "core/run_case/run_case.h"
#include "probes/machine/machine.h"

namespace ddbench::experiment {

/// GPUs of this machine that its ranks may use: all, or those that CUDA_VISIBLE_DEVICES leaves.
int usable_gpus(const host::Machine& machine);

/// Whether the case's ranks, all on this machine, share its GPUs. What a program runs on is not known: its
/// ranks do when `may_share`.
bool shares_gpus(const RunCase& run_case, const host::Machine& machine, bool may_share);

/// Throws Error{kBadInput} when the case's ranks, all on this machine, would share its GPUs and `may_share`
/// is false: what is measured then is not what as many GPUs do. Does not judge where no GPU was found.
void check_gpus(const RunCase& run_case, const host::Machine& machine, bool may_share);

}  // namespace ddbench::experiment
