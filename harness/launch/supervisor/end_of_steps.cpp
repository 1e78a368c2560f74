#include "harness/launch/supervisor/end_of_steps.h"

#include <chrono>
#include <cmath>

#include "core/run_case/step_facts.h"
#include "core/span_limits.h"

namespace ddbench::launch {

EndOfSteps::EndOfSteps(const RunCase& run_case)
    : total_steps_(run_case.total_steps()), agreement_(static_cast<std::size_t>(run_case.world_size())) {
  if (!run_case.ends_by_margin()) return;
  stopping_rule_.emplace(run_case.margin, std::chrono::nanoseconds(std::llround(run_case.max_time_s * 1e9)));
}

void EndOfSteps::add(const StepTimes& times) {
  for (const StepWindow& window : times.windows) stopping_rule_->add(window);
}

std::optional<Hold> EndOfSteps::decide(const StepTimes& times) {
  if (stop_reason_ || preempted_) return std::nullopt;
  stop_reason_ = stopping_rule_->decide(std::chrono::nanoseconds(times.measured_ns));
  if (!stop_reason_) return std::nullopt;
  return agreement_.ask(stopping_rule_->lead().count());
}

Hold EndOfSteps::preempt() {
  preempted_ = true;
  return agreement_.ask(0);
}

std::optional<LastStep> EndOfSteps::add(int rank, const Holding& holding) {
  const auto last = agreement_.add(static_cast<std::size_t>(rank), holding);
  if (!last) return std::nullopt;
  if (!preempted_) last_by_margin_ = last;
  return LastStep{*last, preempted_};
}

bool EndOfSteps::was_all() const {
  if (by_target_) return true;
  const auto last = last_step();
  return last && (*last + 1 >= static_cast<std::uint32_t>(total_steps_) || (last_by_margin_ && *last >= *last_by_margin_));
}

void EndOfSteps::describe(const SupervisedRanks& ranks, Facts& facts) const {
  if (!stopping_rule_) return;
  if (last_by_margin_)
    set_fact(facts, fact_key<"steps.ended_by">, *stop_reason_ == StopReason::kMargin ? kEndedByMargin : kEndedByTime);
  set_fact(facts, fact_key<"steps.done">, last_by_margin_ ? *last_by_margin_ + 1 : total_steps_);
  std::int64_t waits = 0;
  std::int64_t wait_ns = 0;
  for (const SupervisedRank& rank : ranks) {
    waits += rank.waits;
    wait_ns = add_ns(wait_ns, rank.wait_ns);
  }
  set_count(facts, fact_key<"steps.waits_for_launcher">, waits);
  set_count(facts, fact_key<"steps.waits_for_launcher_ns">, wait_ns);
}

}  // namespace ddbench::launch
