#include "analyzer/import/horovod/steps_of_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

namespace ddbench::imports {
namespace {

using Times = std::vector<const HorovodOperation*>;  // of one tensor, in order

struct StepWindow {
  std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();
};

std::unordered_map<std::size_t, Times> reductions(const HorovodTimeline& timeline) {
  std::unordered_map<std::size_t, Times> tensors;
  for (const HorovodOperation& operation : timeline.operations) {
    if (operation.function == "all_reduce" || operation.function == "reduce_scatter")
      tensors[operation.tensor].push_back(&operation);
  }
  return tensors;
}

/// How often most tensors are reduced; of equally many tensors the larger number.
std::size_t usual_count(const std::unordered_map<std::size_t, Times>& tensors) {
  std::map<std::size_t, std::size_t> counts;
  for (const auto& [tensor, times] : tensors) ++counts[times.size()];
  std::size_t usual = 0;
  for (const auto& [count, how_many] : counts) {
    if (usual == 0 || how_many >= counts.at(usual)) usual = count;
  }
  return usual;
}

}  // namespace

MarkedBy mark_steps(const HorovodTimeline& timeline, std::vector<Span>& steps) {
  const std::unordered_map<std::size_t, Times> tensors = reductions(timeline);
  std::vector<StepWindow> windows(usual_count(tensors));
  std::size_t used = 0;
  for (const auto& [tensor, times] : tensors) {
    if (times.size() != windows.size()) continue;
    ++used;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      windows[i].begin_ns = std::min(windows[i].begin_ns, times[i]->begin_ns);
      windows[i].end_ns = std::max(windows[i].end_ns, times[i]->end_ns);
    }
  }
  if (2 * used <= tensors.size()) return {};
  for (std::size_t i = 1; i < windows.size(); ++i) {
    if (windows[i].begin_ns < windows[i - 1].end_ns) return {};
  }
  for (std::size_t i = 1; i < windows.size(); ++i) {
    Span step;
    step.begin_ns = windows[i - 1].end_ns;
    step.end_ns = windows[i].end_ns;
    step.kind = SpanKind::kStep;
    step.bytes = i;
    steps.push_back(step);
  }
  if (steps.empty()) return {};
  return {static_cast<double>(used) / static_cast<double>(tensors.size()),
          fmt::format("{} of {} tensors are reduced {} times, once a step", used, tensors.size(), windows.size())};
}

}  // namespace ddbench::imports
