#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reports/tables/data_table.h"
#include "reports/tables/report.h"
#include "reports/tables/run_content.h"

namespace ddbench::reports {

// The content of a report of a sweep, for every format.

std::string sweep_title(const SweepReport& report);
std::string sweep_subtitle(const SweepReport& report);
std::vector<std::string> sweep_alarms(const SweepReport& report);
std::vector<Tile> sweep_tiles(const SweepReport& report);
std::string sweep_verdict(const SweepReport& report);
/// The case of a row of analyzer::largest_compared(): "4 × 1 over 10gbit". Where other cases of its size were compared too,
/// with the fields in which they differ, and that it is the best of them.
std::string largest_case_in_words(const analyzer::ScalingTable& table, const analyzer::ScalingRow& row);

/// The fastest setting of each size, one sentence each; empty where no settings were varied.
std::vector<std::string> best_in_words(const analyzer::ScalingTable& table);

DataTable scaling_data(const analyzer::ScalingTable& table);
DataTable runs_data(const std::vector<analyzer::RunSummary>& runs);
/// "20 of 81 runs, newest first" where not all are shown, else empty.
std::string part_of_list(std::size_t shown, std::int64_t all);
/// The sweeps that any of the runs belongs to, in the order of the runs.
DataTable sweeps_data(const std::vector<analyzer::RunSummary>& runs);

}  // namespace ddbench::reports
