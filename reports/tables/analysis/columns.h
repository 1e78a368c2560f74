#pragma once

#include "analyzer/statistics/ratio_interval.h"
#include "reports/tables/data_table.h"

namespace ddbench::reports {

// Cells that several tables of an analysis have.

/// "12.34", and from 1,000 USD on without cents: "5,785".
DataCell usd_cell(const Measured<double>& usd, int decimals = 2);

/// "×1.250 (1.200 to 1.300)", with the interval's method.
DataCell ratio_cell(const Measured<analyzer::RunRatio>& ratio);

}  // namespace ddbench::reports
