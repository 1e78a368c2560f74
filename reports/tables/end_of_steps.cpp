#include "reports/tables/end_of_steps.h"

#include "core/run_case/step_facts.h"

namespace ddbench::reports {
namespace {

double half_width(const ConfidenceInterval& interval) {
  return (interval.high - interval.low) / 2;
}

}  // namespace

Measured<EndOfSteps> end_of_steps(const analyzer::RunSummary& summary) {
  if (!summary.run.run_case.ends_by_margin())
    return Measured<EndOfSteps>::missing("the number of steps was given");
  const auto& facts = summary.run.environment.facts;
  const Measured<std::string> ended_by = get_fact(facts, fact_key<"steps.ended_by">);
  if (!ended_by) return Measured<EndOfSteps>::missing("the run did not come to its own end");
  EndOfSteps end;
  end.by_margin = *ended_by == kEndedByMargin;
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
  end.waits = get_fact(facts, fact_key<"steps.waits_for_launcher">).value_or(0);
  end.wait_ns = get_fact(facts, fact_key<"steps.waits_for_launcher_ns">).value_or(0);
  return end;
}

}  // namespace ddbench::reports
