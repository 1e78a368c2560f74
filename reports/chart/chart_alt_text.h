#pragma once

#include <string>

#include "analyzer/figure/figure.h"
#include "reports/chart/chart.h"

namespace ddbench::reports::svg {

/// A text alternative to the drawing: its kind, axes, and values (for long series their range).
std::string describe(const analyzer::Figure& figure, const Chart& chart);

}  // namespace ddbench::reports::svg
