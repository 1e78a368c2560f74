#include "harness/launch/supervisor/job_end.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

namespace ddbench::launch {
namespace {

bool was_lost(const SupervisedRank& rank) {
  return rank.record.outcome.starts_with("lost: ") || rank.record.outcome.starts_with("failed was lost: ");
}

/// The ranks of these nodes; those whose connection was lost where the launcher does not know the nodes' names.
std::string lost_ranks(const SupervisedRanks& ranks, const std::vector<std::string>& nodes) {
  const auto is_on = [&](const SupervisedRank& rank) {
    return std::any_of(nodes.begin(), nodes.end(), [&](const std::string& node) {
      return rank.hello.node_name == node || rank.record.host == node || rank.record.host.starts_with(node + ".");
    });
  };
  std::string text;
  const bool by_host = std::any_of(ranks.begin(), ranks.end(), is_on);
  for (const SupervisedRank& rank : ranks) {
    if (by_host ? is_on(rank) : was_lost(rank)) text += (text.empty() ? "" : ", ") + rank.name();
  }
  return text;
}

}  // namespace

void settle_job_end(const JobEnd& end, const SupervisedRanks& ranks, LaunchOutcome& outcome) {
  if (outcome.state == store::RunState::kDone || outcome.state == store::RunState::kInterrupted) return;
  if (end.cause == JobEnd::Cause::kNodeLost) {
    const std::string lost = lost_ranks(ranks, end.lost_nodes);
    outcome.state = store::RunState::kFailed;
    outcome.reason = fmt::format("the scheduler lost node {}{}{}: {}", fmt::join(end.lost_nodes, ", "),
                                 lost.empty() ? "" : " with ", lost, outcome.reason);
  } else if (end.cause == JobEnd::Cause::kCancelled &&
             (outcome.state == store::RunState::kPreempted || std::any_of(ranks.begin(), ranks.end(), was_lost))) {
    outcome.state = store::RunState::kInterrupted;
    outcome.reason = "the job was cancelled (scancel): " + outcome.reason;
  } else if (end.cause == JobEnd::Cause::kStepCancelled && outcome.state == store::RunState::kFailed &&
             std::any_of(ranks.begin(), ranks.end(), was_lost)) {
    outcome.state = store::RunState::kInterrupted;
    outcome.reason = fmt::format("the step of its ranks in job {} was cancelled (scancel): {}", end.job, outcome.reason);
  } else if (end.cause == JobEnd::Cause::kTimeLimit) {
    outcome.state = store::RunState::kPreempted;
    outcome.reason = "the job's time limit: " + outcome.reason;
  }
}

}  // namespace ddbench::launch
