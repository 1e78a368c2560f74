#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/program/program_phases.h"

namespace ddbench::analyzer {

/// A stretch of one phase. Lists of these are disjoint, by begin.
struct PhaseSegment {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  ProgramPhase phase = ProgramPhase::kData;
};

/// The part of a step that the report calls the optimizer's.
constexpr bool is_of_optimizer(ProgramPhase phase) noexcept {
  return phase == ProgramPhase::kOptimizer || phase == ProgramPhase::kZeroGrad || phase == ProgramPhase::kOptimizerCall;
}

/// The phases of the steps: of marks that nest, the inner one counts. A forward pass is taken from marks with
/// its whole length (PhaseMark::loop is not kForwardPart), up to a backward pass inside it; without such a
/// mark, it is the time between the loader, or another preceding phase, and a backward pass.
std::vector<PhaseSegment> phase_segments(const std::vector<PhaseMark>& marks, const ProgramWindows& steps);

}  // namespace ddbench::analyzer
