#pragma once

#include <span>
#include <vector>

#include "analyzer/predict/record_step.h"
#include "analyzer/predict/step_recording.h"
#include "core/span.h"

namespace ddbench::analyzer {

/// The operators of the main lane in the ranges of rank_step(), in order of time. Where spans lie in each other the
/// innermost counts. Names are ids of the rank's own table.
std::vector<StepOperator> operators_in(std::span<const Span> spans, const std::vector<WorkRange>& ranges);

}  // namespace ddbench::analyzer
