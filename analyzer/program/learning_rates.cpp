#include "analyzer/program/learning_rates.h"

#include <algorithm>

#include "analyzer/program/phase_segments.h"

namespace ddbench::analyzer {

std::vector<std::optional<double>> learning_rates(const std::vector<PhaseMark>& marks, const ProgramWindows& steps) {
  std::vector<std::optional<double>> of_optimizers(steps.size());
  std::vector<std::optional<double>> reported(steps.size());
  for (const PhaseMark& mark : marks) {
    if (!is_of_optimizer(mark.phase)) continue;
    // The end of an optimizer's step is the end of the program's.
    const auto step = std::lower_bound(steps.begin(), steps.end(), mark.end_ns,
                                       [](const ProgramWindow& window, std::int64_t at) { return window.end_ns < at; });
    if (step == steps.end() || mark.begin_ns < step->begin_ns) continue;
    auto& rates = mark.phase == ProgramPhase::kOptimizer ? of_optimizers : reported;
    auto& rate = rates[static_cast<std::size_t>(step - steps.begin())];
    if (const auto applied = learning_rate_of(mark.samples)) rate = applied;
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (reported[i]) of_optimizers[i] = reported[i];
  }
  return of_optimizers;
}

}  // namespace ddbench::analyzer
