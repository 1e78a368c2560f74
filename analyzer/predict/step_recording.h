#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/extrapolate/size_law.h"
#include "core/measured.h"

namespace ddbench::analyzer {

/// What the main lane of a rank does; each kind scales with something else.
enum class WorkKind : std::uint8_t {
  kPass,       ///< forward and backward, and other compute: with the batch
  kOptimizer,  ///< with the parameters
  kData,       ///< waiting for the loader
  kHost,       ///< launch, framework and copies, and idle time that no collective explains
};
inline constexpr std::size_t kWorkKinds = 4;

enum class StepAction : std::uint8_t { kWork, kIssue, kWait };

/// What a kernel of a GPU takes however little it does. gpt2-124m in bfloat16 with batches of 4, 8 and 16 on an H100: 2.2 to 5 us a
/// kernel of its passes (tests/device/RESULTS.md).
inline constexpr std::int64_t kLeastKernelNs = 3'000;

/// One thing that a rank does in a step, in its order on the main lane.
struct StepEvent {
  StepAction action = StepAction::kWork;
  WorkKind work = WorkKind::kHost;
  std::uint32_t collective = 0;  ///< kIssue: its data is ready; kWait: the main lane waits for its end
  double ns = 0;                 ///< kWork: its time without communication beside it
  double fixed_ns = 0;           ///< of it, what the GPU's kernels in it take however little each does; at most ns
};

/// The time of a work event with `factor` times as much to do: kernels of GPUs stay as many.
inline double scaled_ns(const StepEvent& event, double factor) {
  return event.fixed_ns + (event.ns - event.fixed_ns) * factor;
}

/// Splits `ns` off the beginning of a work event.
inline StepEvent split_off(StepEvent& event, double ns) {
  StepEvent part = event;
  part.ns = std::clamp(ns, 0.0, event.ns);
  part.fixed_ns = event.ns > 0 ? event.fixed_ns * part.ns / event.ns : 0;
  event.ns -= part.ns;
  event.fixed_ns -= part.fixed_ns;
  return part;
}

/// A stretch of an operator in a piece of work.
struct StepOperator {
  std::uint32_t name = 0;   ///< index into StepRecording::operator_names
  std::uint32_t event = 0;  ///< of RankStep::events
  double ns = 0;            ///< of the rank's own clock; the whole event holds no less
};

/// A step of one rank as it was recorded.
struct RankStep {
  std::vector<StepEvent> events;
  std::vector<StepOperator> operators;  ///< in order; only if requested, see recording_of()
  /// For each collective: the time from when its data was ready and the lane free to its begin on this rank.
  std::vector<double> start_delay_ns;
  /// For each collective: when it ended on this rank, as a share of its transfer; 1 on the last one. Below 0:
  /// before the last rank had arrived (the sender of a buffered message), so that this rank did not wait.
  std::vector<double> end_share;
  double duration_ns = 0;
  double backward_ns = 0;  ///< of the passes, where spans separate forward and backward; else 0
};

/// One step of all ranks.
struct RecordedStep {
  std::uint32_t step = 0;
  std::vector<RankStep> ranks;
  std::vector<double> transfer_ns;  ///< of each collective, from the arrival of its last rank to its last end
};

struct StepCollective {
  std::string function;  ///< "all_reduce", ...
  double bytes = 0;
  int bucket = -1;  ///< -1: no gradient bucket
};

/// What halving the bytes of gradients (-S hook=fp16) adds to a rank's own work, for a byte of the gradients
/// as recorded.
struct HalfConversion {
  double narrow_ns = 0;  ///< before a collective begins
  double widen_ns = 0;   ///< after the last one was waited for
};
inline bool is_free(const Measured<HalfConversion>& conversion) {
  return conversion && conversion->narrow_ns + conversion->widen_ns == 0;
}

/// The measured steps of a run in a form that can be replayed. Every step has the same collectives.
struct StepRecording {
  ClusterShape shape;
  std::vector<int> ranks;  ///< the number of each recorded rank; empty: from 0 on
  std::string run;
  std::string strategy;  ///< "ddp", "zero1", ...; for programs as their case states
  std::vector<StepCollective> collectives;  ///< in their order on the lane
  std::vector<double> gradient_bytes;       ///< each gradient, in about the order in which buckets are filled; empty: not known
  std::vector<RecordedStep> steps;          ///< in order; a gap in `step` ends a block
  double slowdown = 0;                      ///< compute beside communication takes 1 + this times as long
  double samples_per_rank = 0;              ///< per step; 1 if the number is not known
  bool counts_samples = true;               ///< samples_per_rank is known
  double step_ns = 0;                       ///< as the run's step time has it
  /// On GPUs nothing: they convert at the speed of their memory.
  Measured<HalfConversion> conversion = Measured<HalfConversion>::missing("not recorded");
  std::vector<std::string> operator_names;
  std::vector<std::string> notes;
};

}  // namespace ddbench::analyzer
