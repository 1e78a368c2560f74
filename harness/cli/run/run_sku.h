#pragma once

#include "core/run_case/run_case.h"
#include "harness/cli/options/run_options.h"

namespace ddbench::cli {

/// Refuses requests that the SKU cannot satisfy. Prints notes about its name on standard error, once per job.
/// Does not query the machine.
void check_sku(const RunOptions& options, RunCase& run_case);

/// For ranks on machines like this one, called by the process that starts them or is rank 0: finds the SKU if
/// none was named, and warns if the machine contradicts it. Never fails and never takes longer than a second.
void ask_machine(const RunOptions& options, RunCase& run_case);

}  // namespace ddbench::cli
