#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/import/table/table_columns.h"

namespace ddbench::imports {

/// Whether this is the header that `ddbench report --format csv` writes.
bool is_report_csv(const std::vector<std::string>& header);

/// What a column of such a file means here. Nothing: it is read as that of any table. Figures other than the step time (or the
/// throughput, where that is not known), ids and states are left out; where the figures came from becomes a note.
std::optional<SetCell> report_csv_column(const std::string& name);

/// Whether the row is of a finished, valid run with a step time or a throughput. Other rows cannot be compared.
bool is_usable_report_row(const std::vector<std::string>& header, const std::vector<std::string>& cells);

}  // namespace ddbench::imports
