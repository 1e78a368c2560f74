#pragma once

#include <vector>

#include "ddbench/store/run_store.h"

namespace ddbench::experiment {

/// Clears up after ddbench processes that were killed: takes over what their ranks had spooled, closes their runs as
/// `interrupted`, removes their run directories. Only what belongs to this user and whose owner is dead is touched.
/// Returns the runs that were closed.
std::vector<store::RunId> recover_abandoned_runs(store::RunStore& store);

}  // namespace ddbench::experiment
