#include "reports/tables/end_of_steps.h"

#include "analyzer/run/analysis_facts.h"
#include "core/run_case/step_facts.h"

namespace ddbench::reports {
namespace {

double half_width(const ConfidenceInterval& interval) {
  return (interval.high - interval.low) / 2;
}

}  // namespace

Measured<EndOfSteps> end_of_steps(const analyzer::RunSummary& summary) {
  if (!summary.run.run_case.ends_by_margin()) return Measured<EndOfSteps>::missing("the number of steps was given");
  const auto& facts = summary.run.environment.facts;
  const auto ended_by = facts.find(kFactStepsEndedBy);
  if (ended_by == facts.end()) return Measured<EndOfSteps>::missing("the run did not come to its own end");
  EndOfSteps end;
  end.by_margin = ended_by->second == kEndedByMargin;
  end.goal = summary.run.run_case.margin;
  if (const auto& step = summary.step_time_ns) {
    end.half_width = step->interval ? Measured<double>(half_width(*step->interval) / step->value)
                                    : Measured<double>::missing(step->interval.reason());
  }
  if (const auto& cost = summary.probe_overhead_percent) {
    end.probe_half_width = half_width(cost->interval) / 100;
  } else {
    end.probe_half_width = Measured<double>::missing(cost.reason());
  }
  end.waits = analyzer::numeric_fact(summary.run, kFactStepWaits);
  end.wait_ns = analyzer::numeric_fact(summary.run, kFactStepWaits_ns);
  return end;
}

}  // namespace ddbench::reports
