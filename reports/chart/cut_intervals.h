#pragma once

#include "reports/chart/chart.h"

namespace ddbench::reports::svg {

/// Cuts intervals that reach far beyond the chart's values, so that the very wide interval of only two runs
/// does not compress all other marks into a line. Tooltips keep the original ends.
void cut_intervals(Chart& chart);

}  // namespace ddbench::reports::svg
