#pragma once

#include <string>
#include <vector>

#include "analyzer/catalogue/sku_catalogue.h"
#include "reports/formats/terminal/text.h"

namespace ddbench::reports {

/// A line for each SKU: its GPUs, host, network and prices with their dates.
std::string skus_text(const std::vector<analyzer::Sku>& skus, const TextStyle& style);

}  // namespace ddbench::reports
