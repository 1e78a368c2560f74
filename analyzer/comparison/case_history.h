#pragma once

#include <span>

#include "analyzer/run/run_summary.h"
#include "analyzer/statistics/ratio_interval.h"

namespace ddbench::analyzer {

/// The ratio of two sides' throughput, numerator / denominator, each one case's runs. Its interval comes from
/// the sides' own repeats where both have kFewestRuns or more. Otherwise it comes from how far runs of these
/// cases scatter in the store: the newest finished runs of the same case on the same hardware and network,
/// back to the last change of level, without the compared ones. Missing as measured_ratio; the interval is
/// missing, with the reason, where the store holds too few.
Measured<RunRatio> throughput_ratio(const store::RunStore& store, std::span<const RunSummary> numerator,
                                    std::span<const RunSummary> denominator);

}  // namespace ddbench::analyzer
