// The way of a run that a scheduler ends before its time. A checkpoint needs all ranks after the same step
// (LastStepAgreement): the furthest one that a rank is in.
#include <fmt/format.h>
#include <fmt/ranges.h>

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

namespace {

bool was_lost(const SupervisedRank& rank) {
  return rank.record.outcome.starts_with("lost: ") || rank.record.outcome.starts_with("failed was lost: ");
}

}  // namespace

/// The ranks of these nodes; those that the launcher lost where it does not know their names.
std::string Supervisor::lost_ranks(const std::vector<std::string>& nodes) const {
  const auto is_on = [&](const SupervisedRank& rank) {
    return std::any_of(nodes.begin(), nodes.end(), [&](const std::string& node) {
      return rank.hello.node_name == node || rank.record.host == node || rank.record.host.starts_with(node + ".");
    });
  };
  std::string text;
  const bool by_host = std::any_of(ranks_.begin(), ranks_.end(), is_on);
  for (const SupervisedRank& rank : ranks_) {
    if (by_host ? is_on(rank) : was_lost(rank)) text += (text.empty() ? "" : ", ") + rank.name();
  }
  return text;
}

/// A scheduler ends the ranks by the same signal, whatever it does that for: what it did is known when its launcher has ended.
void Supervisor::settle_job_end() {
  const JobEnd end = processes_.job_end();
  if (outcome_.state == store::RunState::kDone || outcome_.state == store::RunState::kInterrupted) return;
  if (end.cause == JobEnd::Cause::kNodeLost) {
    const std::string ranks = lost_ranks(end.lost_nodes);
    outcome_.state = store::RunState::kFailed;
    outcome_.reason = fmt::format("the scheduler lost node {}{}{}: {}", fmt::join(end.lost_nodes, ", "),
                                  ranks.empty() ? "" : " with ", ranks, outcome_.reason);
  } else if (end.cause == JobEnd::Cause::kCancelled &&
             (outcome_.state == store::RunState::kPreempted || std::any_of(ranks_.begin(), ranks_.end(), was_lost))) {
    outcome_.state = store::RunState::kInterrupted;
    outcome_.reason = "the job was cancelled (scancel): " + outcome_.reason;
  } else if (end.cause == JobEnd::Cause::kTimeLimit) {
    outcome_.state = store::RunState::kPreempted;
    outcome_.reason = "the job's time limit: " + outcome_.reason;
  }
}

}  // namespace ddbench::launch
