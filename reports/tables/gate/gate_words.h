#pragma once

#include <string>
#include <string_view>

#include "analyzer/gate/gate.h"

namespace ddbench::reports {

// Texts that every format of a verdict uses. They are not yet escaped for a format.

std::string outcome_in_words(analyzer::GateOutcome outcome);  ///< "no regression", "regression", "no verdict"
std::string metric_value(analyzer::RunMetric metric, double value);  ///< "10.3 ms", "1.2 GB"
std::string threshold_in_words(double share);                        ///< "3%"
std::string side_in_words(const analyzer::GateSide& side);           ///< "runs with name=main: 10 runs"
/// The metric's own verdict, more specific than the outcome: "better" if it improved, "not judged" if the
/// whole comparison was refused.
std::string metric_outcome_in_words(const analyzer::MetricVerdict& metric);

}  // namespace ddbench::reports
