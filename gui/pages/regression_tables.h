#pragma once

#include <string>

#include "ddbench/analyzer/gate.h"
#include "ddbench/analyzer/run_history.h"
#include "models/cell_table_model.h"

namespace ddbench::gui {

/// The changes of level of one series; `unit` is that of its metric.
CellTable change_table(const analyzer::HistorySeries& series, const std::string& unit);

/// A row a metric of the verdict.
CellTable metric_table(const analyzer::GateVerdict& verdict);

}  // namespace ddbench::gui
