#pragma once

#include <span>
#include <string>

#include "analyzer/comparison/compare_by.h"
#include "reports/formats/terminal/layout/paint.h"

namespace ddbench::reports {

/// A titled table of latency and bandwidth by size regime; empty without fits. `field` heads the column of
/// the values; empty: there is none.
std::string fits_section(std::span<const analyzer::GroupFit> fits, const std::string& field,
                         const Paint& paint, std::size_t width);

}  // namespace ddbench::reports
