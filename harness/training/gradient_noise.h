#pragma once

#include "harness/training/step/step_clock.h"
#include "harness/training/strategy/strategy.h"
#include "probes/recorder/recorder.h"

namespace ddbench::ddp {

/// Measures what the gradient noise scale is estimated from, in one step of four: the scalars
/// "gradient_square_local", this rank's |g|^2 over its own samples, and "gradient_square_mean", whose mean
/// over ranks is |g|^2 of the averaged gradient. It belongs to the probes: of a pair of
/// steps with the probes on and off, the one with them on has it, so that its cost is in their difference.
class GradientNoise {
 public:
  /// `first_measured` as in is_probed.
  GradientNoise(const RunCase& run_case, std::uint32_t first_measured, Strategy& strategy, host::Recorder& recorder)
      : first_measured_(first_measured),
        measurable_(run_case.world_size() > 1 && strategy.can_measure_norms()),
        strategy_(strategy),
        recorder_(recorder) {}

  void begin_step(std::uint32_t step) noexcept {
    measures_ = measurable_ && is_in_pair(step, first_measured_) && is_probed(step, first_measured_);
    strategy_.measure_norms(measures_);
  }
  /// After the gradients are averaged, before the update.
  void end_backward(std::uint32_t step) {
    if (!measures_) return;
    recorder_.record_scalar("gradient_square_local", step, strategy_.local_square());
    recorder_.record_scalar("gradient_square_mean", step, strategy_.mean_square());
  }

 private:
  const std::uint32_t first_measured_;
  const bool measurable_;
  bool measures_ = false;
  Strategy& strategy_;
  host::Recorder& recorder_;
};

}  // namespace ddbench::ddp
