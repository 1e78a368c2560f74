// The way of a run that a scheduler ends before its time. A checkpoint needs all ranks after the same step
// (LastStepAgreement): the furthest one that a rank is in.
#include <fmt/format.h>

#include <algorithm>

#include "core/run_case/program_case.h"
#include "harness/launch/supervisor/supervisor.h"

namespace ddbench::launch {

using Clock = std::chrono::steady_clock;

std::string Supervisor::how_far() const {
  const auto furthest = std::max_element(ranks_.begin(), ranks_.end(), [](const auto& a, const auto& b) {
    return a.heartbeat.steps_completed < b.heartbeat.steps_completed;
  });
  return how_far(*furthest, " ");
}

std::string Supervisor::how_far(const SupervisedRank& rank, const char* before, const char* after) const {
  return is_program(run_case_) ? std::string() : before + rank.progress() + after;
}

void Supervisor::begin_preemption() {
  preemption_deadline_ = Clock::now() + options_.preemption_grace;
  const bool keeps_state = run_case_.checkpoint_every > 0 && !is_program(run_case_);
  if (phase_ != Phase::kTraining || !keeps_state)
    return stop(store::RunState::kPreempted, "preempted" + how_far());
  const Hold hold = agreement_.ask(0);
  for (SupervisedRank& rank : ranks_) rank.post(hold);
}

/// After the last rank has ended.
void Supervisor::settle_preemption() {
  const auto last = agreement_.last_step();
  if (outcome_.state != store::RunState::kDone || !preemption_deadline_ || !last) return;
  const bool was_all = *last + 1 >= static_cast<std::uint32_t>(run_case_.total_steps()) ||
                       (last_step_by_margin_ && *last >= *last_step_by_margin_);
  if (was_all) return;  // there was no more to do
  outcome_.state = store::RunState::kPreempted;
  outcome_.reason = fmt::format("preempted {}, with a checkpoint of it", describe_progress(*last + 1));
}

}  // namespace ddbench::launch
