#pragma once

#include <optional>
#include <vector>

#include "analyzer/gate/gate.h"
#include "analyzer/statistics/log_ratio.h"

namespace ddbench::analyzer {

/// Why a run must not be compared ("failed: rank 3 was killed"); empty when it may.
std::string unusable(const store::RunRecord& run);

/// Puts every reason that forbids a verdict independently of the numbers into verdict.reasons, and the
/// intended differences into verdict.compared.
void check_sides(GateVerdict& verdict);

/// Drops earlier runs that are not repetitions of the side's runs: they are no evidence of its scatter.
void drop_other_history(GateSide& side);

/// log(candidate / baseline) of a metric that all runs measured, oriented so that positive is worse.
LogRatio worsening(const GateSide& baseline, const GateSide& candidate, SidesInTime in_time, RunMetric metric,
                   const GatePolicy& policy);

/// Difference of two sides' values (not of logarithms) with its two-sided 95% interval: paired Student t for
/// interleaved runs, Welch's t otherwise.
struct MeanChange {
  double baseline = 0;
  double candidate = 0;
  Measured<ConfidenceInterval> interval = Measured<ConfidenceInterval>::missing("not known");
};
MeanChange mean_change(const std::vector<double>& baseline, const std::vector<double>& candidate,
                       const std::optional<std::vector<RunPair>>& pairs);

/// Fills parts, collectives and, for a regression, the explanation.
void explain(GateVerdict& verdict);

}  // namespace ddbench::analyzer
