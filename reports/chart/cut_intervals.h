#pragma once

#include "reports/chart/chart.h"

namespace ddbench::reports::svg {

/// Cuts intervals that reach far beyond the chart's values, so that two runs whose spread is not known do not
/// press all others into a line. Tips keep both ends as they are.
void cut_intervals(Chart& chart);

}  // namespace ddbench::reports::svg
