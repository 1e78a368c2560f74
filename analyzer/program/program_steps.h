#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/program/program_phases.h"

namespace ddbench::analyzer {

/// How the steps were found. `kOptimizer`: from marks of the optimizer's steps (core/program_phase.h).
/// `kWindow`: no steps were found; the whole recording counts as one.
enum class StepSource : std::uint8_t { kMarker, kPattern, kWindow, kOptimizer };
/// As in the fact program.steps_from: "marker", "pattern", "window", "optimizer".
const char* name_of(StepSource source) noexcept;

/// The source of a program's host time.
enum class HostTime : std::uint8_t {
  kRest,      ///< not recorded: all of a step that is nothing else
  kRecorded,  ///< it is among the spans (a trace has the host's calls)
};

/// What is kept of a program's steps; all 0: everything.
struct KeptSteps {
  std::uint32_t skip = 0;
  std::uint32_t measure = 0;     ///< 0: to the end
  std::int64_t duration_ns = 0;  ///< from the begin of the first one on rank 0; 0: to the end
};

/// Means per step, over ranks and the counted steps.
struct ProgramPhases {
  std::int64_t data_ns = 0;
  std::int64_t forward_ns = 0;
  std::int64_t backward_ns = 0;
  std::int64_t optimizer_ns = 0;
  std::array<std::int64_t, 4> host_gap_ns{};  ///< by HostGap (host_gaps.h)
  /// Over all ranks; 0: not known, as loaders gave batches in fewer than nine of ten steps.
  double samples = 0;
};

struct ProgramSteps {
  StepSource source = StepSource::kWindow;
  std::uint32_t steps = 0;
  double confidence = 0;  ///< of a pattern; 1 for marked steps
  std::string pattern;    ///< "2 collectives a step: all_reduce 1071144 B, all_reduce 1607680 B"
  std::int64_t outside_ns =
      0;  ///< of rank 0 between its first and last step, in no step (evaluation, checkpoints)
  std::optional<ProgramPhases> phases;  ///< where all ranks marked them
  /// Of rank 0, by step from the first one on; empty where no step has one.
  std::vector<std::optional<double>> learning_rates;
  std::uint32_t found = 0;              ///< steps before those outside of `kept` were left out
};

/// Gives the spans of all ranks their steps, and adds the spans that a reference workload records itself: the
/// steps, and, with HostTime::kRest, their host time (all of a step, so that what is neither compute in a
/// known library nor communication is host time). Steps are those that the program marked, else those that
/// its optimizers end (steps_of_phases; on GPUs, which work behind the program, only without a pattern), else
/// those of the pattern of rank 0's collectives in its largest communicator: a step ends on each rank where
/// its last collective does. A step that also contains an evaluation or a checkpoint, according to rank 0, is
/// left out. A checkpoint: it opened more files to write than in most steps, however long that took. An
/// evaluation: the step is more than three times as long as the median, the time to its first collective more
/// than five times, and there it computed or copied more often than in other steps, by more than a tenth.
/// Otherwise it is a slow step: stalls of the machine are part of the measurement. If nothing repeats, the
/// window from the first to the last span is one step, numbered `warmup` so that it counts. Only the spans of
/// `kept` steps are kept; the first of them is step 0.
ProgramSteps assign_program_steps(std::vector<ProgramRank>& ranks, int warmup, HostTime host = HostTime::kRest,
                                  const KeptSteps& kept = {});

}  // namespace ddbench::analyzer
