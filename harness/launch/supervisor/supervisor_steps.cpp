// The end of a run that ends by its margin. Rank 0 reports what its steps take; when they are enough, or the time is up,
// the ranks agree on a last step that is so far ahead that none waits for word of it.
#include "core/run_case/step_facts.h"
#include "harness/launch/supervisor/supervisor.h"

namespace ddbench::launch {

void Supervisor::on(SupervisedRank& rank, const StepTimes& times) {
  if (!stopping_rule_ || rank.record.rank != 0) return fail(rank, ": it reported step times that nobody asked for", true);
  for (const StepWindow& window : times.windows) stopping_rule_->add(window);
  if (phase_ != Phase::kTraining || stop_reason_ || preemption_deadline_) return;
  if (const auto reason = stopping_rule_->decide(std::chrono::nanoseconds(times.measured_ns))) end_by_margin(*reason);
}

void Supervisor::end_by_margin(StopReason reason) {
  stop_reason_ = reason;
  const Hold hold = agreement_.ask(stopping_rule_->lead().count());
  for (SupervisedRank& rank : ranks_) rank.post(hold);
}

void Supervisor::on(SupervisedRank& rank, const Holding& holding) {
  const auto last = agreement_.add(static_cast<std::size_t>(rank.record.rank), holding);
  if (!last) return;
  if (!preemption_deadline_) last_step_by_margin_ = last;
  for (SupervisedRank& each : ranks_) each.post(LastStep{*last, preemption_deadline_.has_value()});
}

/// As facts of the run.
void Supervisor::describe_end_of_steps() {
  if (outcome_.state != store::RunState::kDone || !stopping_rule_) return;
  Facts& facts = outcome_.facts;
  if (last_step_by_margin_)
    set_fact(facts, fact_key<"steps.ended_by">, *stop_reason_ == StopReason::kMargin ? kEndedByMargin : kEndedByTime);
  const std::int64_t all = run_case_.total_steps();
  set_fact(facts, fact_key<"steps.done">, last_step_by_margin_ ? *last_step_by_margin_ + 1 : all);
  std::int64_t waits = 0;
  std::int64_t wait_ns = 0;
  for (const SupervisedRank& rank : ranks_) {
    waits += rank.waits;
    wait_ns += rank.wait_ns;
  }
  set_count(facts, fact_key<"steps.waits_for_launcher">, waits);
  set_count(facts, fact_key<"steps.waits_for_launcher_ns">, wait_ns);
}

}  // namespace ddbench::launch
