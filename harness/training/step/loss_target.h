#pragma once

#include <cstddef>
#include <deque>
#include <utility>

#include "core/run_case/run_case.h"

namespace ddbench::ddp {

/// Determines when training has reached the case's target loss. The mean training loss of all ranks over the
/// last 2,048 samples, rounded up to whole steps, is compared: noise and lag of the figure, in samples, are
/// then equal for all batch sizes.
class LossTarget {
 public:
  explicit LossTarget(const RunCase& run_case);

  /// Whether the case has a target.
  bool wanted() const noexcept { return target_ > 0; }
  /// Takes the mean over ranks of the next step's loss. Returns the smoothed loss; NaN before there are
  /// samples enough.
  double add(double mean_loss);
  bool reached() const noexcept { return reached_; }
  /// What add() took last, as far as it is needed to go on; and going on from it.
  const std::deque<double>& recent() const noexcept { return losses_; }
  void restore(std::deque<double> recent) { losses_ = std::move(recent); }

 private:
  const double target_;
  const std::size_t window_;  // steps
  std::deque<double> losses_;
  bool reached_ = false;
};

}  // namespace ddbench::ddp
