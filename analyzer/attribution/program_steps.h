#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/span.h"

namespace ddbench::analyzer {

/// What a rank of a program recorded: calls of libraries, without steps.
struct ProgramRank {
  std::vector<Span> spans;
  std::vector<std::string> names;
};

/// How the steps were found. `kWindow`: they were not; the whole recording counts as one.
enum class StepSource : std::uint8_t { kMarker, kPattern, kWindow };

/// Where a program's host time comes from.
enum class HostTime : std::uint8_t {
  kRest,      ///< nobody recorded it: all of a step that is nothing else
  kRecorded,  ///< it is among the spans (a trace has the host's calls)
};

struct ProgramSteps {
  StepSource source = StepSource::kWindow;
  std::uint32_t steps = 0;
  double confidence = 0;  ///< of a pattern; 1 for marked steps
  std::string pattern;    ///< "2 collectives a step: all_reduce 1071144 B, all_reduce 1607680 B"
  std::int64_t outside_ns =
      0;  ///< of rank 0 between its first and last step that belongs to none (evaluation, checkpoints)
};

/// Gives the spans of all ranks their steps, and adds what a reference workload records by itself: the steps,
/// and, with HostTime::kRest, their host time (all of a step, so that what is neither compute in a known library nor
/// communication is host time). Steps are those that the program marked, else those of the pattern of rank
/// 0's collectives in its largest communicator: a step ends on each rank where its last collective does. A
/// step holds an evaluation or a checkpoint as well, and is left out, where rank 0 shows it. A checkpoint:
/// it opened more files to write than in most steps, however long that took. An evaluation: the step is more
/// than three times as long as the median, the time to its first collective more than five times, and there
/// it computed or copied more often than in other steps, by more than a tenth. Without that it is a slow
/// step: a machine that stood still is a part of what is measured. Where nothing repeats, the window from the
/// first to the last span is one step, numbered `warmup` so that it counts.
ProgramSteps assign_program_steps(std::vector<ProgramRank>& ranks, int warmup, HostTime host = HostTime::kRest);

}  // namespace ddbench::analyzer
