#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ddbench {

/// What a program says of its training loop, or ddbench's module inside of a Python program (probes/python) for it.
/// It travels as a span of kind kHost that has the phase's name, `bytes` samples and `correlation` to tell loops apart
/// (which data set, which optimizer). Values are those of probes/preload/marks/ddbench.h: append, never renumber.
enum class ProgramPhase : std::uint8_t {
  kData,        ///< in the loader: until it has a batch, of `bytes` samples; none while it only starts
  kForward,     ///< a model's forward pass with gradients
  kBackward,
  kOptimizer,   ///< an optimizer's step: a step of the program ends where it does
  kZeroGrad,
  kEvaluation,  ///< a model's forward pass without gradients
  kSave,        ///< a checkpoint is written
  kTrainMode,   ///< no length: the model is told to train
  kEvalMode,    ///< no length: the model is told to evaluate
};
inline constexpr std::array<const char*, 9> kPhaseNames = {
    "phase/data", "phase/forward", "phase/backward", "phase/optimizer", "phase/zero_grad", "phase/evaluation",
    "phase/save", "phase/train_mode", "phase/eval_mode"};

constexpr std::optional<ProgramPhase> phase_of(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kPhaseNames.size(); ++i) {
    if (name == kPhaseNames[i]) return static_cast<ProgramPhase>(i);
  }
  return std::nullopt;
}

}  // namespace ddbench
