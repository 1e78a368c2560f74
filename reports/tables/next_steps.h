#pragma once

#include <string>

#include "analyzer/store/rows/run_store.h"
#include "reports/tables/data_table.h"
#include "reports/tables/report.h"

namespace ddbench::reports {

// What a reader does after a report: commands that work as they stand, each with what it shows or why. Empty
// where there is nothing to look into.

/// Of a run whose verdicts are not known: the commands that compute them. It tries what they need, in much less time.
DataTable next_steps_data(const store::RunStore& store, const analyzer::RunSummary& summary);
/// Of a run, with its verdicts, for the store that --db named.
DataTable next_steps_data(const RunReport& report);

/// Of a sweep.
DataTable next_steps_data(const analyzer::ScalingTable& table);
/// The same for the store that --db named.
DataTable next_steps_data(const SweepReport& report);

/// The options with which `ddbench predict` predicts another size of this run; empty where it cannot.
std::string prediction_options(const store::RunStore& store, const store::RunRecord& run);

/// The command for the store that --db named; unchanged if that is empty.
std::string in_store(std::string command, const std::string& db);
/// The same of each command.
DataTable steps_in_store(DataTable steps, const std::string& db);

}  // namespace ddbench::reports
