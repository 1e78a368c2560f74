#include "harness/training/step/loss_target.h"

#include <limits>
#include <numeric>

#include "core/run_case/loss_window.h"

namespace ddbench::ddp {
LossTarget::LossTarget(const RunCase& run_case)
    : target_(run_case.target_loss),
      window_(static_cast<std::size_t>(loss_window_steps(run_case))) {}

double LossTarget::add(double mean_loss) {
  losses_.push_back(mean_loss);
  if (losses_.size() > window_) losses_.pop_front();
  if (losses_.size() < window_) return std::numeric_limits<double>::quiet_NaN();
  const double smoothed =
      std::accumulate(losses_.begin(), losses_.end(), 0.0) / static_cast<double>(losses_.size());
  reached_ = reached_ || smoothed <= target_;
  return smoothed;
}

}  // namespace ddbench::ddp
