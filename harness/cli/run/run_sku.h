#pragma once

#include "core/run_case/run_case.h"
#include "harness/cli/options/run_options.h"

namespace ddbench::cli {

/// Refuses what the SKU has not got. Says on standard error what is to be said of its name, once a job. Asks no machine.
void check_sku(const RunOptions& options, RunCase& run_case);

/// For ranks on machines like this one, called by the process that starts them or is rank 0: the SKU where nobody named it, and
/// warnings where the machine contradicts it. Never fails and never takes longer than a second.
void ask_machine(const RunOptions& options, RunCase& run_case);

}  // namespace ddbench::cli
