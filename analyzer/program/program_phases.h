#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/program_phase.h"
#include "core/span.h"

namespace ddbench::analyzer {

/// What a rank of a program recorded: calls of libraries, without steps.
struct ProgramRank {
  std::vector<Span> spans;
  std::vector<std::string> names;
};

struct ProgramWindow {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};
using ProgramWindows = std::vector<ProgramWindow>;  ///< ascending, disjoint

/// A phase of the training loop as the program marked it. Of nested phases, the inner one counts.
struct PhaseMark {
  ProgramPhase phase = ProgramPhase::kData;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t samples = 0;
  std::uint64_t loop = 0;  ///< which data set, which optimizer
};

/// Takes the marks out of the rank's spans; by begin.
std::vector<PhaseMark> take_phase_marks(ProgramRank& rank);

/// The steps that optimizers ended. Of several optimizers that take turns, the one with most steps ends them, of those
/// with equally many the last in turn; one that runs before or after it has steps of its own. A step begins where the
/// one before ended; where the program evaluated or wrote a checkpoint in between, at the first mark of training
/// behind that. It evaluated where a model ran without gradients (if most steps do so on their own batch: where another batch came before
/// the backward pass), where it ran in evaluation mode, and where a loader gave several batches without a backward pass and is not the one that the step draws from.
ProgramWindows steps_of_phases(const std::vector<PhaseMark>& marks);

/// For the steps of a rank, by phase: nanoseconds in it, and samples that its loaders returned.
struct PhaseTotals {
  std::array<std::int64_t, kPhaseNames.size()> ns{};
  std::array<std::int64_t, 4> host_gap_ns{};  ///< by HostGap (host_gaps.h)
  std::uint64_t samples = 0;
  std::size_t steps_with_samples = 0;
};

/// Turns the compute in these phases of the steps into forward, backward and optimizer, and the loader's time
/// into data wait: compute and copies in it are part of loading. Forward is the time between the loader, or
/// another preceding phase, and a backward pass. GPU spans are unchanged, because a GPU executes later than
/// its phase. Totals cover the steps from `first_counted` on.
PhaseTotals apply_phases(ProgramRank& rank, const std::vector<PhaseMark>& marks, const ProgramWindows& steps,
                         std::size_t first_counted);

}  // namespace ddbench::analyzer
