#pragma once

#include "analyzer/batch/batch_analysis.h"
#include "analyzer/figure/figure.h"

namespace ddbench::analyzer {

/// Time to the target over the global batch, log-log, a series a number of GPUs. Batches that no run reached
/// the target with are named in a note.
Figure time_to_target_figure(const BatchCurve& curve);

}  // namespace ddbench::analyzer
