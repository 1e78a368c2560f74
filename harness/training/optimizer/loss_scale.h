#pragma once

#include <cstdint>
#include <string>

#include "core/run_case/run_case.h"

namespace ddbench::ddp {

/// By how much the loss is multiplied before backward, so that the small gradients of fp16 do not become
/// zero; gradients are divided by it before the update. A step whose gradients are not finite is skipped.
///
/// A fixed scale stays. The dynamic one follows torch.amp.GradScaler: 65,536 at first, half of it after a
/// step that was skipped, twice after 2,000 steps in a row that were not. Powers of two change no digit.
class LossScale {
 public:
  /// As the case's `loss_scale` and `precision` say.
  explicit LossScale(const RunCase& run_case);

  /// Whether the case has one.
  bool wanted() const noexcept { return wanted_; }
  float value() const noexcept { return value_; }  ///< 1 where the case has none
  /// Steps so far that updated nothing.
  std::uint32_t skipped() const noexcept { return skipped_; }

  /// Takes whether the gradients of a step were finite. Throws Error{kRunFailed} when a dynamic scale would
  /// fall below 1: no scale helps.
  void after_step(bool finite);

  /// What a checkpoint must keep, as text; and going on from it.
  std::string state() const;
  void restore(const std::string& state);

 private:
  bool wanted_ = false;
  bool dynamic_ = false;
  float value_ = 1;
  std::uint32_t finite_in_a_row_ = 0;
  std::uint32_t skipped_ = 0;
};

}  // namespace ddbench::ddp
