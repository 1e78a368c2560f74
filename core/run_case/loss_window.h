#pragma once

#include <cstdint>

#include "core/run_case/run_case.h"

namespace ddbench {

/// The loss that is compared with RunCase::target_loss is a mean over this many samples, rounded up to whole
/// steps: its noise, in samples, is then equal for all batch sizes.
inline constexpr std::int64_t kLossWindowSamples = 2048;

inline std::int64_t loss_window_steps(const RunCase& run_case) {
  return (kLossWindowSamples + run_case.global_batch() - 1) / run_case.global_batch();
}

/// By how many steps the mean over that window is behind a loss that falls evenly.
inline double loss_window_delay_steps(const RunCase& run_case) {
  return static_cast<double>(loss_window_steps(run_case) - 1) / 2;
}

}  // namespace ddbench
