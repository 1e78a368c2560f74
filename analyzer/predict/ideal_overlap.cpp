#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analyzer/predict/rebucket.h"
#include "analyzer/predict/what_if.h"

namespace ddbench::analyzer {
namespace {

constexpr double kHardlyAny = 0.1;  // of the backward pass after the first bucket: averaging, say

bool is_pass(const StepEvent& event) {
  return event.action == StepAction::kWork && event.work == WorkKind::kPass;
}

/// The gradient collectives of the step in order, if they follow each other without another collective
/// between them.
std::vector<std::uint32_t> gradients_in_a_row(const std::vector<StepCollective>& collectives) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t c = 0; c < collectives.size(); ++c) {
    if (!reduces_gradients(collectives[c])) continue;
    if (!found.empty() && found.back() + 1 != c) return {};
    found.push_back(c);
  }
  return found;
}

/// Pass work before the first gradients are issued and after.
std::pair<double, double> around_first_issue(const RankStep& step,
                                             const std::vector<std::uint32_t>& gradients) {
  std::pair<double, double> ns{0, 0};
  bool issued = false;
  for (const StepEvent& event : step.events) {
    if (is_pass(event)) (issued ? ns.second : ns.first) += event.ns;
    issued = issued || (event.action == StepAction::kIssue && event.collective == gradients.front());
  }
  return ns;
}

/// Whether collectives before the gradients, which the lane takes first, are issued before that much pass
/// work.
bool others_are_earlier(const RankStep& step, std::uint32_t first_gradients, double pass_ns) {
  double done = 0;
  for (const StepEvent& event : step.events) {
    if (is_pass(event)) done += event.ns;
    if (event.action == StepAction::kIssue && event.collective < first_gradients && done > pass_ns)
      return false;
  }
  return true;
}

/// Issues of gradients at shares of the `backward_ns` of pass work before the first of them.
void spread(RankStep& step, const std::vector<StepCollective>& collectives,
            const std::vector<std::uint32_t>& gradients, double forward_ns, double backward_ns) {
  double bytes = 0;
  for (const std::uint32_t c : gradients) bytes += collectives[c].bytes;
  std::vector<StepEvent> events;
  std::size_t next = 0;
  double held = collectives[gradients.front()].bytes;
  double done = 0;
  const auto ready_ns = [&] { return forward_ns + backward_ns * held / bytes; };
  const auto issue_next = [&] {
    events.push_back({StepAction::kIssue, WorkKind::kHost, gradients[next], 0});
    if (++next < gradients.size()) held += collectives[gradients[next]].bytes;
  };
  for (StepEvent event : step.events) {
    if (event.action == StepAction::kIssue && event.collective >= gradients.front() &&
        event.collective <= gradients.back()) {
      while (next < gradients.size() && gradients[next] <= event.collective)
        issue_next();  // rounding left it
      continue;
    }
    while (is_pass(event) && next < gradients.size() && ready_ns() <= done + event.ns) {
      const StepEvent part = split_off(event, ready_ns() - done);
      done += part.ns;
      events.push_back(part);
      issue_next();
    }
    if (is_pass(event)) done += event.ns;
    events.push_back(event);
  }
  step.events = std::move(events);
}

}  // namespace

void overlap_ideally(StepRecording& recording) {
  const std::vector<std::uint32_t> gradients = gradients_in_a_row(recording.collectives);
  for (RecordedStep& recorded : recording.steps) {
    for (RankStep& step : recorded.ranks) {
      std::fill(step.start_delay_ns.begin(), step.start_delay_ns.end(), 0.0);
      if (gradients.size() < 2 || step.backward_ns <= 0) continue;
      const auto [before, after] = around_first_issue(step, gradients);
      const double backward = std::min(before, step.backward_ns - after);
      if (after > kHardlyAny * step.backward_ns ||
          !others_are_earlier(step, gradients.front(), before - backward))
        continue;
      spread(step, recording.collectives, gradients, before - backward, backward);
    }
  }
}

}  // namespace ddbench::analyzer
