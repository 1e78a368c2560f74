#pragma once

#include <cstddef>
#include <string>

#include "reports/formats/terminal/layout/paint.h"
#include "reports/tables/data_table.h"

namespace ddbench::reports {

/// A table as text: caption and detail, aligned columns `indent` columns to the right, legend. Texts are shortened as Table does it;
/// prose in the last column continues on further lines. Control characters are shown escaped. Empty without rows and detail.
std::string data_table_text(const DataTable& table, const Paint& paint, std::size_t width, std::size_t indent = 2);

}  // namespace ddbench::reports
