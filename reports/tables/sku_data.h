#pragma once

#include <string>
#include <vector>

#include "analyzer/catalogue/sku_catalogue.h"
#include "reports/tables/data_table.h"

namespace ddbench::reports {

DataTable skus_data(const std::vector<analyzer::Sku>& skus);

/// Sets the brief form of cells with long names to the part that distinguishes them: without their common
/// prefix up to a separator ("Standard_"). Adds the removed prefix to the legend. If all names are equal,
/// they are left unchanged.
void shorten_names(DataTable& table, std::size_t column);

}  // namespace ddbench::reports
