#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/predict/step_recording.h"
#include "core/run_case/run_case.h"

namespace ddbench::analyzer {

/// The changes relative to the recorded run. With all defaults nothing changes.
struct WhatIf {
  double batch_factor = 1;             ///< samples a rank and step; passes (StepEvent::fixed_ns apart) and the loader take as much longer
  std::optional<double> bucket_bytes;  ///< size of gradient buckets; the first one is at most 1 MiB
  bool half_gradients = false;  ///< gradient collectives of half the bytes, and the time to convert (fp16, bf16)
  int accumulate = 1;  ///< micro-batches a step: gradients are ready in the last one only
  double compute_speed = 1;         ///< factor by which passes and optimizer are faster, StepEvent::fixed_ns apart
  bool without_stragglers = false;  ///< ranks slower than the median rank are as fast as it
  bool without_data_wait = false;
  bool without_host = false;
  std::string strategy;        ///< see with_strategy(); empty: as recorded
  bool ideal_overlap = false;  ///< see overlap_ideally()

  bool changes_collectives() const noexcept {
    return bucket_bytes.has_value() || half_gradients || !strategy.empty();
  }
};

/// Why gradients of the run, with that strategy, cannot be sent in half the bytes, or it is not known what
/// that would take; empty where it is.
std::string why_not_halved(const StepRecording& recording, const std::string& strategy,
                           const RunCase& run_case);

/// Why the recorded steps do not show what the change would do, for people; empty where they do.
std::string why_not_changed(const StepRecording& recording, const WhatIf& what_if);

/// What changed() assumes, beyond the recording's own notes. Throws as it does.
std::vector<std::string> assumptions_of(const StepRecording& recording, const WhatIf& what_if);

/// The recording with all changes except the strategy, which depends on the number of ranks. Larger buckets
/// join recorded ones, which is exact; smaller ones split them, assuming that the gradients of a bucket
/// became ready evenly over the time since the preceding bucket (a note states this). Recorded transfer times
/// of collectives whose bytes change are empty afterwards. Throws Error{kBadInput} for factors that are not
/// positive, for bucket sizes if no collective has a bucket, for half_gradients without a known
/// StepRecording::conversion, and for why_not_changed().
StepRecording changed(const StepRecording& recording, const WhatIf& what_if);

/// As if every collective began when its data is ready: start delays are 0. Where a rank reduces its
/// gradients after the backward pass (nearly all of its passes lie before the first bucket), buckets are
/// ready during the pass instead, as evenly as their bytes. What remains exposed is then max(last bucket,
/// communication - backward pass after the first bucket).
void overlap_ideally(StepRecording& recording);

}  // namespace ddbench::analyzer
