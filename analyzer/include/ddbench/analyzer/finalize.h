#pragma once

#include "ddbench/store/run_store.h"

namespace ddbench::analyzer {

/// Turns the stored spans of a run into its step, collective and kernel rows: joins the collectives across
/// ranks on aligned clocks, partitions every step of every rank, takes losses over into the step rows. Works
/// on what there is: for a failed run these are the steps that were spooled before it failed. Calling it
/// again replaces the rows. Bounded memory: goes through the run in step ranges. Sets RunRecord::valid =
/// false with the reason (and stores it) when a run of several ranks shows no communication, when replicas
/// differ after the last step, or when no measured step was recorded.
void finalize_run(store::RunStore& store, const store::RunId& id);

}  // namespace ddbench::analyzer
