#pragma once

#include "analyzer/store/rows/run_store.h"
#include "harness/cli/options/run_options.h"
#include "harness/experiment/run/execute_run.h"

namespace ddbench::cli {

/// As experiment::execute_run. Where MLFLOW_TRACKING_URI names a server, the run is logged there while it goes on, and its steps when it has
/// ended; how that went is printed on standard error. A server that does not answer neither fails nor slows the run.
store::RunRecord execute_logged_run(const RunCase& run_case, const experiment::ExecuteOptions& execute, const RunOptions& options,
                                    store::RunStore& store, experiment::RunObserver& observer);

}  // namespace ddbench::cli
