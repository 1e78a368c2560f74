#pragma once

#include <vector>

#include "analyzer/import/horovod/timeline.h"
#include "analyzer/import/trace/rank_trace.h"

namespace ddbench::imports {

/// Steps of training: a gradient's tensor is reduced once in each. Of tensors that are reduced as often as most are, the k-th
/// time ends the k-th step; the first step has no begin in the timeline and is left out. No step where a tensor is reduced
/// again before all others were, or where fewer than most of them are reduced equally often.
MarkedBy mark_steps(const HorovodTimeline& timeline, std::vector<Span>& steps);

}  // namespace ddbench::imports
