#pragma once

#include <span>

#include "analyzer/figure/figure.h"
#include "analyzer/scaling/scaling.h"

namespace ddbench::analyzer {

// Figures of a sweep beside scaling_efficiency.

/// Speedup over GPUs, both logarithmic, beside the ideal; series as those of scaling_efficiency.
Figure speedup_figure(const ScalingTable& table);

/// Partition of the step time, a stacked bar for each row of the table that has runs among `runs`: that of
/// CaseFigures over the valid, finished ones.
Figure case_partition_figure(const ScalingTable& table, std::span<const RunSummary> runs);

}  // namespace ddbench::analyzer
