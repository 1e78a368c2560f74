#pragma once

#include <string>

#include "analyzer/gate/gate.h"
#include "analyzer/gate/run_history.h"
#include "gui/models/cell_table_model.h"

namespace ddbench::gui {

/// The changes of level of one series; `unit` is that of its metric.
CellTable change_table(const analyzer::HistorySeries& series, const std::string& unit);

/// A row a metric of the verdict.
CellTable metric_table(const analyzer::GateVerdict& verdict);

}  // namespace ddbench::gui
