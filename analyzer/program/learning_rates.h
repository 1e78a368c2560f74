#pragma once

#include <optional>
#include <vector>

#include "analyzer/program/program_phases.h"

namespace ddbench::analyzer {

/// The learning rate that a program applied in each of its steps: the one that it reported itself (the last in the step), else that
/// of the last optimizer's step in it. Empty where the step has neither: no mark, a step that a gradient scaler left out.
std::vector<std::optional<double>> learning_rates(const std::vector<PhaseMark>& marks, const ProgramWindows& steps);

}  // namespace ddbench::analyzer
