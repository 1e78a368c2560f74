#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/program/program_phases.h"

namespace ddbench::analyzer {

/// Steps of a program that does not mark them.
struct PatternSteps {
  std::vector<ProgramWindows> windows;  ///< by rank, as many each; empty: there is no pattern
  double confidence = 0;             ///< StepPattern::confidence
  std::string pattern;               ///< "2 collectives a step: all_reduce 1071144 B, all_reduce 1607680 B"
};

/// Steps from the pattern of rank 0's collectives in its largest communicator, without those that also
/// contain an evaluation or a checkpoint (program_steps.h describes how these are recognised).
PatternSteps steps_of_pattern(const std::vector<ProgramRank>& ranks);

/// When the first span of a rank that recorded something begins.
std::int64_t begin_of_spans(const ProgramRank& rank);

}  // namespace ddbench::analyzer
