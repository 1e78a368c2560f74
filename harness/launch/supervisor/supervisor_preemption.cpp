// The way of a run that a scheduler ends before its time. Ranks may be a step apart and are told at different
// moments; a checkpoint needs all of them after the same step. So each is first made to wait at the end of
// the step that it is in, and then told the furthest of these steps: none has begun a later one, and all can
// reach it.
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
  return furthest->progress();
}

void Supervisor::begin_preemption() {
  preemption_deadline_ = Clock::now() + options_.preemption_grace;
  const bool keeps_state = run_case_.checkpoint_every > 0 && !is_program(run_case_);
  if (phase_ != Phase::kTraining || !keeps_state)
    return stop(store::RunState::kPreempted, "preempted " + how_far());
  for (SupervisedRank& rank : ranks_) rank.post(Hold{});
}

void Supervisor::on(SupervisedRank& rank, const Holding& holding) {
  rank.holding_at = holding.step;
  const bool all = std::all_of(ranks_.begin(), ranks_.end(),
                               [](const SupervisedRank& each) { return each.holding_at.has_value(); });
  if (!all || last_step_) return;
  last_step_ = 0;
  for (const SupervisedRank& each : ranks_) last_step_ = std::max(*last_step_, *each.holding_at);
  for (SupervisedRank& each : ranks_) each.post(LastStep{*last_step_});
}

/// After the last rank has ended.
void Supervisor::settle_preemption() {
  if (outcome_.state != store::RunState::kDone || !last_step_) return;
  if (*last_step_ + 1 >= static_cast<std::uint32_t>(run_case_.total_steps()))
    return;  // there was no more to do
  outcome_.state = store::RunState::kPreempted;
  outcome_.reason = fmt::format("preempted {}, with a checkpoint of it", describe_progress(*last_step_ + 1));
}

}  // namespace ddbench::launch
