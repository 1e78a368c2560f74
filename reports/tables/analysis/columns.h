#pragma once

#include "analyzer/statistics/ratio_interval.h"
#include "core/run_case/records.h"
#include "reports/tables/data_table.h"

namespace ddbench::reports {

// Cells that several tables of an analysis have.

/// The number of nodes of a case, or that the placement of its GPUs on nodes is not known.
inline DataCell nodes_cell(const RunCase& run_case, bool not_said) {
  return not_said ? missing_cell("the imported table does not say how the GPUs sit in nodes") : count_cell(run_case.nodes);
}

/// "12.34", and from 1,000 USD on without cents: "5,785".
DataCell usd_cell(const Measured<double>& usd, int decimals = 2);

/// "×1.250 (1.200 to 1.300)", with the interval's method.
DataCell ratio_cell(const Measured<analyzer::RunRatio>& ratio);

}  // namespace ddbench::reports
