#pragma once

#include <string>
#include <vector>

#include "analyzer/store/rows/run_store.h"
#include "core/run_case/run_case.h"
#include "harness/cli/options/run_options.h"
#include "harness/experiment/sweep/sweep_plan.h"

namespace ddbench::cli {

/// Refuses requests that the SKU cannot satisfy. Prints notes about its name on standard error, once per job.
/// Does not query the machine.
void check_sku(const RunOptions& options, RunCase& run_case);

/// For ranks on machines like this one, called by the process that starts them or is rank 0: finds the SKU if
/// none was named, and warns if the machine contradicts it. Never fails and never takes longer than a second; the
/// metadata service is asked once in a process.
void ask_machine(const RunOptions& options, RunCase& run_case);

/// check_sku for each cell of a sweep, without notes about names.
void check_skus(const RunOptions& options, const std::vector<experiment::SweepCell>& cells);

/// Of a sweep on machines like this one whose SKU nobody named: as the runs of `sweep_id` had it, else as the machine says now
/// (ask_machine). Throws as check_sku. It does not decide which sweep is resumed: the machine may have had no answer before.
void settle_sku(RunOptions& options, const store::RunStore& store, const std::string& sweep_id, std::vector<experiment::SweepCell>& cells);

}  // namespace ddbench::cli
