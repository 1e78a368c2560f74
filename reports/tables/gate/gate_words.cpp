#include "reports/tables/gate/gate_words.h"

#include <fmt/format.h>

#include "core/text/quantity.h"
#include "reports/text/phrases.h"

namespace ddbench::reports {

using analyzer::GateOutcome;
using analyzer::RunMetric;

std::string outcome_in_words(GateOutcome outcome) {
  switch (outcome) {
    case GateOutcome::kPass: return "no regression";
    case GateOutcome::kRegression: return "regression";
    case GateOutcome::kInconclusive: break;
  }
  return "no verdict";
}

std::string metric_value(RunMetric metric, double value) {
  switch (metric) {
    case RunMetric::kStepTime:
    case RunMetric::kExposed: return time_in_words(value);
    case RunMetric::kBusBandwidth: return quantity(value * 1e9, "B/s");
    case RunMetric::kHostMemory:
    case RunMetric::kDeviceMemory: return quantity(value, "B");
    case RunMetric::kEfficiency: return percent_in_words(value);
    case RunMetric::kThroughput: break;
  }
  return value_in_words(value, analyzer::unit_of(metric));
}

std::string threshold_in_words(double share) {
  return fmt::format("{:g}%", share * 100);
}

std::string side_in_words(const analyzer::GateSide& side) {
  const std::string& what = side.meaning.empty() ? side.reference : side.meaning;
  return fmt::format("{}: {} run{}", what, side.runs.size(), side.runs.size() == 1 ? "" : "s");
}

std::string metric_outcome_in_words(const analyzer::MetricVerdict& metric) {
  if (metric.improved) return "better";
  if (metric.outcome == GateOutcome::kInconclusive && metric.reason.empty()) return "not judged";
  return outcome_in_words(metric.outcome);
}

}  // namespace ddbench::reports
