#pragma once

#include <string>
#include <vector>

#include "analyzer/catalogue/sku_catalogue.h"
#include "reports/tables/data_table.h"

namespace ddbench::reports {

DataTable skus_data(const std::vector<analyzer::Sku>& skus);

/// Sets the brief of cells with long names to what tells them apart: without what all begin with, up to a separator
/// ("Standard_"). Adds to the legend what was left out. Names of one spelling are left as they are.
void shorten_names(DataTable& table, std::size_t column);

}  // namespace ddbench::reports
