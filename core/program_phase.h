#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ddbench {

/// A phase of the training loop as reported by a program, or on its behalf by ddbench's module inside a
/// Python program (probes/python). It is passed on as a span of kind kHost with the phase's name, `bytes`
/// samples (of an optimizer's: learning_rate_code) and `correlation` to distinguish loops (which data set, which optimizer). Values are those of
/// probes/preload/marks/ddbench.h: append, never renumber.
enum class ProgramPhase : std::uint8_t {
  kData,        ///< in the loader: until it has a batch, of `bytes` samples; none while it only starts
  kForward,     ///< a model's forward pass with gradients; kForwardPart: without its loss
  kBackward,
  kOptimizer,   ///< an optimizer's step: a step of the program ends where it does
  kZeroGrad,
  kEvaluation,  ///< a model's forward pass without gradients
  kSave,        ///< a checkpoint is written
  kTrainMode,   ///< no length: the model is switched to training mode
  kEvalMode,    ///< no length: the model is switched to evaluation mode
  kOptimizerCall,  ///< what calls an optimizer's step and does more (DeepSpeed's engine): a part of the optimizer, which ends no step
};
inline constexpr std::array<const char*, 10> kPhaseNames = {
    "phase/data", "phase/forward", "phase/backward", "phase/optimizer", "phase/zero_grad", "phase/evaluation",
    "phase/save", "phase/train_mode", "phase/eval_mode", "phase/optimizer_call"};

/// The `correlation` of a forward pass that is a part of one: of the model, without its loss.
inline constexpr std::uint64_t kForwardPart = 1;

/// A program's direct account of being recorded: kHost spans of these names without a length, whose `bytes` are the nanoseconds
/// since the one before: of the calling thread in ddbench's hooks, and of processor time of the thread that writes the spool.
inline constexpr std::string_view kHookCost = "probe_cost/hooks";
inline constexpr std::string_view kDrainCost = "probe_cost/drain";

/// A learning rate as marks of kOptimizer and kOptimizerCall have it in `bytes`: 1 + its number of 10^-15; 0: not known, or
/// beyond 0 to 1000. Decimals of up to 15 places come back as they were.
constexpr std::uint64_t learning_rate_code(double rate) noexcept {
  return rate >= 0 && rate <= 1000 ? static_cast<std::uint64_t>(rate * 1e15 + 0.5) + 1 : 0;
}
constexpr std::optional<double> learning_rate_of(std::uint64_t code) noexcept {
  if (code == 0 || code > learning_rate_code(1000)) return std::nullopt;
  return static_cast<double>(code - 1) / 1e15;
}

constexpr std::optional<ProgramPhase> phase_of(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kPhaseNames.size(); ++i) {
    if (name == kPhaseNames[i]) return static_cast<ProgramPhase>(i);
  }
  return std::nullopt;
}

}  // namespace ddbench
