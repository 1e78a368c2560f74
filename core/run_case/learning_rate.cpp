#include "core/run_case/learning_rate.h"

#include <algorithm>
#include <cmath>

namespace ddbench {

double settled_learning_rate(const RunCase& run_case) {
  if (run_case.lr_rule == LearningRateRule::kNone || run_case.base_batch <= 0) return run_case.lr;
  const double k = static_cast<double>(run_case.global_batch()) / static_cast<double>(run_case.base_batch);
  return run_case.lr * (run_case.lr_rule == LearningRateRule::kLinear ? k : std::sqrt(k));
}

double learning_rate(const RunCase& run_case, std::uint32_t step) {
  const double settled = settled_learning_rate(run_case);
  if (run_case.lr_warmup == 0) return settled;
  return settled * std::min(1.0, (static_cast<double>(step) + 1) / run_case.lr_warmup);
}

}  // namespace ddbench
