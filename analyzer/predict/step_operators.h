#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/predict/record_step.h"
#include "analyzer/predict/step_recording.h"
#include "core/span.h"

namespace ddbench::analyzer {

/// The operators of the main lane in the ranges of rank_step(), in order of time. Where spans lie in each other the
/// innermost counts. Names are ids of the rank's own table.
std::vector<StepOperator> operators_in(std::span<const Span> spans, const std::vector<WorkRange>& ranges);

/// A program's collectives do not name buckets. Those of gradients are the sums of a kilobyte or more that begin in the
/// backward pass or after it, before the optimizer: they are numbered as DDP numbers its buckets. None is where no span is of
/// the backward pass.
void number_buckets(std::span<const Span> spans, std::int64_t end_ns, std::vector<RankCollective>& collectives);

}  // namespace ddbench::analyzer
