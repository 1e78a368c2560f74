#pragma once

#include <cstddef>
#include <span>

#include "analyzer/rate/measured_steps.h"
#include "analyzer/statistics/statistics.h"

namespace ddbench::analyzer {

/// What the probes add to a step, in percent: each probe-off step, the last of four measured steps, is paired
/// with the probe-on step before it (or the third of four with the fourth). The logarithms of the two are
/// subtracted: without a cost the difference is symmetric about 0, whatever the steps' distribution, while
/// quotients are biased upward by their scatter. Centre and interval are those of signed ranks. Each step is
/// taken as its mean over ranks (a paired comparison is of the whole machine's time; the slowest rank would
/// add the scatter of an extreme). Missing without 6 such pairs.
Measured<Estimate> probe_overhead_percent(std::span<const RunStep> steps);

}  // namespace ddbench::analyzer
