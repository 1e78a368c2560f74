#pragma once

#include <string>

#include "reports/tables/data_table.h"

namespace ddbench::reports::html {

/// An accessible table in a box that scrolls sideways if the table is too wide; the page's script makes it
/// sortable.
std::string table_markup(const DataTable& table);

}  // namespace ddbench::reports::html
