// Batch and gradient noise of single runs.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "analyzer/batch/batch_analysis.h"
#include "core/run_case/loss_window.h"
#include "core/run_case/step_facts.h"

namespace ddbench::analyzer {
namespace {

struct Sums {
  double local = 0;
  double mean = 0;
  int ranks = 0;
};

}  // namespace

std::vector<GradientNorms> gradient_norms(const store::RunStore& store, const store::RunRecord& run) {
  const int ranks = run.run_case.world_size();
  const std::uint32_t first_measured = first_measured_step(run.run_case, run.environment.facts);
  std::map<std::uint32_t, Sums> by_step;
  for (int rank = 0; ranks > 1 && rank < ranks; ++rank) {
    for (const auto& [step, square] : store.step_values(run.id, rank, kGradientSquareLocal)) {
      if (step >= first_measured) by_step[step].local += square;
    }
    if (by_step.empty()) break;  // a step counts if all ranks recorded it, and rank 0 recorded none
    for (const auto& [step, square] : store.step_values(run.id, rank, kGradientSquareMean)) {
      const auto found = by_step.find(step);
      if (found == by_step.end()) continue;
      found->second.mean += square;
      ++found->second.ranks;
    }
  }
  std::vector<GradientNorms> norms;
  for (const auto& [step, sums] : by_step) {
    if (sums.ranks != ranks || !std::isfinite(sums.local) || !std::isfinite(sums.mean)) continue;
    norms.push_back({sums.local / ranks, sums.mean / ranks});
  }
  return norms;
}

Measured<StepsTowardsTarget> steps_towards_target(const store::RunStore& store, const store::RunRecord& run) {
  const double target = run.run_case.target_loss;
  if (!(target > 0)) return Measured<StepsTowardsTarget>::missing("no target (--target-loss)");
  std::optional<StepsTowardsTarget> last;
  for (const auto& [step, loss] : store.step_values(run.id, 0, kSmoothedLoss)) {
    const double unsmoothed = static_cast<double>(step) + 1 - loss_window_delay_steps(run.run_case);
    last = {std::max(1.0, unsmoothed), loss <= target};
    if (last->reached) break;
  }
  if (!last) return Measured<StepsTowardsTarget>::missing("the run ended before its loss could be smoothed");
  return *last;
}

}  // namespace ddbench::analyzer
