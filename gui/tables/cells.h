#pragma once

#include <string>

#include "analyzer/statistics/ratio_interval.h"
#include "core/provenance.h"
#include "gui/models/cell_table_model.h"
#include "reports/tables/data_table.h"

namespace ddbench::gui {

/// "12.3 ms"; a plain number for units that the heading names ("1", "samples/s"). Missing: "–" with the
/// reason.
Cell quantity_cell(const Measured<double>& value, const std::string& unit);
/// A cell of the column "samples/s". Where `without_samples` says why samples are not known, `work_per_s` counts the steps of all
/// `ranks`, and the cell is "59.6 steps/s".
Cell rate_cell(double work_per_s, const std::string& without_samples, int ranks);
Cell percent_cell(const Measured<double>& share);
/// The same with "[low, high]" behind it, in the same unit, and the method as the tip.
Cell interval_cell(double value, const Measured<ConfidenceInterval>& interval, const std::string& unit);
/// Of shares, as percents.
Cell percent_interval_cell(double share, const Measured<ConfidenceInterval>& interval);
Cell ratio_cell(const Measured<analyzer::RunRatio>& ratio);
Cell count_cell(double count);
Cell provenance_cell(ProvenanceSet provenance);
/// A table that reports show too.
CellTable cell_table(const reports::DataTable& table);
/// "all_reduce" as "all reduce".
QString spaced(std::string text);

}  // namespace ddbench::gui
