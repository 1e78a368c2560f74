#pragma once

#include <string>

#include "reports/formats/html/html.h"
#include "reports/tables/data_table.h"

namespace ddbench::reports::html {

/// An accessible table in a box that scrolls sideways if the table is too wide; the page's script makes it
/// sortable. Cells that name a page are links where the page has links.
std::string table_markup(const DataTable& table, const PageLinks* links = nullptr);

}  // namespace ddbench::reports::html
