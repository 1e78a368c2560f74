#pragma once

#include <string>
#include <string_view>

#include "analyzer/gate/gate.h"

namespace ddbench::reports {

// What every form of a verdict says in the same words. Texts are not yet made harmless for a format.

std::string outcome_in_words(analyzer::GateOutcome outcome);  ///< "no regression", "regression", "no verdict"
std::string metric_value(analyzer::RunMetric metric, double value);  ///< "10.3 ms", "1.2 GB"
std::string signed_percent(double share);                            ///< "+3.1%"
std::string threshold_in_words(double share);                        ///< "3%"
std::string side_in_words(const analyzer::GateSide& side);           ///< "runs with name=main: 10 runs"
/// The metric's verdict beside the outcome: "better" where it improved, "not judged" where the whole was
/// refused.
std::string metric_outcome_in_words(const analyzer::MetricVerdict& metric);

}  // namespace ddbench::reports
