#pragma once

#include <vector>

#include "analyzer/gate/gate.h"
#include "analyzer/gate/run_history.h"
#include "reports/tables/data_table.h"

namespace ddbench::reports {

// The content of the gate, the history and the named baselines, for every format that has tables.

DataTable metrics_data(const analyzer::GateVerdict& verdict);  ///< a row for each metric
DataTable history_data(const analyzer::HistorySeries& series, analyzer::RunMetric metric);
/// A row for each change of level; empty if there is none.
DataTable level_changes_data(const analyzer::HistorySeries& series, analyzer::RunMetric metric);
DataTable baselines_data(const std::vector<store::NamedBaseline>& baselines);

}  // namespace ddbench::reports
