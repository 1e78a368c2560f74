#pragma once

#include <string>

#include "reports/tables/data_table.h"
#include "reports/tables/report.h"

namespace ddbench::reports {

// What a reader does after a report: commands that work as they stand, each with what it shows or why. Empty
// where there is nothing to look into.

/// Of a run. Diagnosis and advice that are missing are replaced by the commands that compute them.
DataTable next_steps_data(const analyzer::RunSummary& summary,
                          const Measured<analyzer::Diagnosis>& diagnosis = Measured<analyzer::Diagnosis>::missing("not asked for"),
                          const Measured<analyzer::AdviceReport>& advice = Measured<analyzer::AdviceReport>::missing("not asked for"));

/// Of a sweep.
DataTable next_steps_data(const analyzer::ScalingTable& table);

/// The same commands for the store that --db named; unchanged if it is empty.
DataTable steps_in_store(DataTable steps, const std::string& store);

}  // namespace ddbench::reports
