#pragma once

#include <string>
#include <vector>

#include "analyzer/run/run_summary.h"
#include "analyzer/statistics/ratio_interval.h"

namespace ddbench::analyzer {

enum class Figures {
  kRate,      ///< steps, so that there is a rate of samples
  kAnything,  ///< steps or collectives: collective tests have no steps
};

/// Summaries of the runs that gave such figures; the others are named in `notes`.
std::vector<RunSummary> usable_summaries(const store::RunStore& store, std::span<const store::RunRecord> runs,
                                         Figures needed, std::vector<std::string>& notes);

/// For values above 0; missing when there are none.
Measured<double> geometric_mean(std::span<const double> values, const char* reason);

/// ratio_of_runs, missing unless both sides have values and all are finite and above 0.
Measured<RunRatio> measured_ratio(std::span<const double> numerator, std::span<const double> denominator);

}  // namespace ddbench::analyzer
