#pragma once

#include <vector>

#include "analyzer/import/horovod/timeline.h"
#include "analyzer/import/trace/rank_trace.h"

namespace ddbench::imports {

/// Steps of training: a gradient's tensor is reduced once in each. For the tensors that are reduced equally
/// often as most, the k-th reduction ends the k-th step; the first step has no begin in the timeline and is
/// left out. There are no steps if a tensor is reduced again before all others were, or where fewer than most
/// of them are reduced equally often.
MarkedBy mark_steps(const HorovodTimeline& timeline, std::vector<Span>& steps);

}  // namespace ddbench::imports
