#pragma once

#include <optional>
#include <string>

#include "analyzer/predict/step_recording.h"

namespace ddbench::analyzer {

/// The changes relative to the recorded run. With all defaults nothing changes.
struct WhatIf {
  double batch_factor = 1;             ///< samples a rank and step; passes and the loader take as much longer
  std::optional<double> bucket_bytes;  ///< size of gradient buckets; the first one is at most 1 MiB
  double bytes_factor = 1;             ///< of gradient collectives: 0.5 for fp16 and bf16 compression
  int accumulate = 1;                  ///< micro-batches a step: gradients are ready in the last one only
  double compute_speed = 1;            ///< factor by which passes and optimizer are faster
  bool without_stragglers = false;     ///< ranks slower than the median rank are as fast as it
  bool without_data_wait = false;
  bool without_host = false;
  std::string strategy;  ///< see with_strategy(); empty: as recorded
  bool ideal_overlap = false;  ///< gradients leave as evenly as the backward pass makes them: a bucket never waits for a core

  bool changes_collectives() const noexcept { return bucket_bytes.has_value() || bytes_factor != 1 || !strategy.empty(); }
};

/// Whether gradients of the strategy can be compressed (-S hook=).
inline bool takes_hook(const std::string& strategy) {
  return strategy == "ddp";
}

/// Why the recorded steps do not show what the change would do, for people; empty where they do.
std::string why_not_changed(const StepRecording& recording, const WhatIf& what_if);

/// The recording with all changes except the strategy, which depends on the number of ranks. Larger buckets
/// join recorded ones, which is exact; smaller ones split them, assuming that the gradients of a bucket
/// became ready evenly over the time since the preceding bucket (a note states this). Recorded transfer times
/// of collectives whose bytes change are empty afterwards. Throws Error{kBadInput} for factors that are not
/// positive, for bucket sizes if no collective has a bucket, and for why_not_changed().
StepRecording changed(const StepRecording& recording, const WhatIf& what_if);

}  // namespace ddbench::analyzer
