#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::experiment {

/// A run is recovered when its ddbench was killed, or could not store all that the ranks had measured (full
/// disk): what lies in its run directory is brought into the store, steps, collectives and kernels are
/// computed, and its final state is stored: that of the run where it was known, else `interrupted`. Then the
/// directory is removed.
struct RecoveredRun {
  store::RunId id;
  store::RunState state = store::RunState::kInterrupted;  ///< as it is stored now
  std::uint64_t steps = 0;                                ///< of all ranks, in the store now
};

/// Whether there is something to recover: false for a run that lives, and for one that is complete.
bool can_recover(const store::RunRecord& run);

/// Throws Error when the store does not accept the run; the message states where the data is kept. A
/// repetition continues where it stopped. `why_gone`: for a run that is stored as running, why no process
/// drives it any more; empty: its owner is dead (store::is_abandoned).
RecoveredRun recover_run(store::RunStore& store, store::RunRecord run, const std::string& why_gone = {});

struct Recovery {
  std::vector<RecoveredRun> runs;
  std::vector<std::string> failures;  ///< for people: which run, why, where its data stays
};

/// Recovers all runs of the store that can be, and removes the run directories of dead runs that no store
/// needs any more. Only what this user's ddbench made, and whose owner is dead, is touched.
Recovery recover_runs(store::RunStore& store);

}  // namespace ddbench::experiment
