#pragma once

#include <cstddef>
#include <string>

#include "analyzer/scaling/scaling_curve.h"
#include "reports/formats/terminal/layout/paint.h"

namespace ddbench::reports {

/// The section "Lost step time against the baseline": a row for each part of the step, a column for each
/// size, with as many sizes beside each other as `width` has room for. Empty where nothing is known to be
/// lost.
std::string lost_by_size_text(const analyzer::ScalingCurve& curve, const Paint& paint, std::size_t width);

}  // namespace ddbench::reports
