#pragma once

#include <string>

#include "reports/tables/data_table.h"

namespace ddbench::reports::html {

/// An accessible table in a box that scrolls sideways where it is too wide; sortable by the page's script.
std::string table_markup(const DataTable& table);

}  // namespace ddbench::reports::html
