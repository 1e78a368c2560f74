#include "harness/training/optimizer/learning_rate.h"

#include <algorithm>
#include <cmath>

namespace ddbench::ddp {

double learning_rate(const RunCase& run_case, std::uint32_t step) {
  double lr = run_case.lr;
  if (run_case.lr_rule != "none") {
    const double k = static_cast<double>(run_case.global_batch()) / static_cast<double>(run_case.base_batch);
    lr *= run_case.lr_rule == "linear" ? k : std::sqrt(k);
  }
  if (run_case.lr_warmup == 0) return lr;
  return lr * std::min(1.0, (static_cast<double>(step) + 1) / run_case.lr_warmup);
}

}  // namespace ddbench::ddp
