#pragma once

#include <string>

#include "analyzer/figure/figure.h"

namespace ddbench::gui {

/// One row per point: series, label, x, y, bounds, level and method of its interval, provenance; the heading
/// names the axes' units. RFC 4180, UTF-8, numbers in full precision.
std::string figure_csv(const analyzer::Figure& figure);

}  // namespace ddbench::gui
