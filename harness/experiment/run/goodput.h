#pragma once

#include "analyzer/store/rows/run_store.h"

namespace ddbench::experiment {

/// Goodput: useful time over all time, of a run and the runs that it continues. Useful is the time of the
/// steps that count (what they added to the elapsed time), without what writing checkpoints took and without steps that a
/// later run had to do again; all time is from start to end of each run, without the time between them (how
/// long a scheduler lets it wait). Stores it in the run's facts: "goodput" (0 to 1), "goodput.useful_s",
/// "goodput.total_s", "goodput.between_s", "goodput.restarts".
void store_goodput(store::RunStore& store, const store::RunId& id);

/// When the run's last step ended, on the wall clock; 0 when it has none or was recorded before this machine
/// started. A run that was killed is known to be dead only later.
std::int64_t last_step_end_wall_ns(const store::RunStore& store, const store::RunRecord& run);

}  // namespace ddbench::experiment
