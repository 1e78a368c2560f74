#pragma once

#include <string>

#include "analyzer/figure/figure.h"
#include "reports/chart/chart.h"

namespace ddbench::reports::svg {

/// What a reader who does not see the drawing is told: its kind, axes, and the values (of long series their
/// range).
std::string describe(const analyzer::Figure& figure, const Chart& chart);

}  // namespace ddbench::reports::svg
