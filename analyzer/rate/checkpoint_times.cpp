#include "analyzer/rate/checkpoint_times.h"

#include <algorithm>
#include <set>

#include "core/run_case/step_facts.h"

namespace ddbench::analyzer {

std::map<std::uint32_t, double> checkpoint_seconds_by_step(const store::RunStore& store, const store::RunRecord& run) {
  std::map<std::uint32_t, double> longest_s;
  for (int rank = 0; rank < run.run_case.world_size(); ++rank) {
    for (const auto& [step, seconds] : store.step_values(run.id, rank, "checkpoint_seconds"))
      longest_s[step] = std::max(longest_s[step], seconds);
  }
  return longest_s;
}

double checkpoint_ns_a_step(const store::RunStore& store, std::span<const store::RunRecord> runs) {
  double sum_s = 0;
  std::size_t steps = 0;
  for (const store::RunRecord& run : runs) {
    if (run.run_case.checkpoint_every == 0) continue;
    const std::uint32_t first_measured = first_measured_step(run.run_case, run.environment.facts);
    const auto by_step = checkpoint_seconds_by_step(store, run);
    for (auto step = by_step.lower_bound(first_measured); step != by_step.end(); ++step) sum_s += step->second;
    if (by_step.empty()) continue;
    std::set<std::uint32_t> measured;
    for (const store::StepRecord& step : store.steps(run.id)) {
      if (step.step >= first_measured) measured.insert(step.step);
    }
    steps += measured.size();
  }
  return steps == 0 ? 0 : 1e9 * sum_s / static_cast<double>(steps);
}

}  // namespace ddbench::analyzer
