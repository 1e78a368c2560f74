#pragma once

#include <cstddef>
#include <string>

#include "reports/formats/terminal/layout/paint.h"
#include "reports/tables/data_table.h"

namespace ddbench::reports {

/// A table as text: caption, detail, aligned columns. The first column that is not numeric, and prose, may be shortened. Control
/// characters are shown escaped. Empty without rows and detail.
std::string data_table_text(const DataTable& table, const Paint& paint, std::size_t width);

}  // namespace ddbench::reports
