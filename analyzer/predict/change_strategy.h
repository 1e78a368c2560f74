#pragma once

#include <string>

#include "analyzer/predict/step_recording.h"

namespace ddbench::analyzer {

/// Whether the steps of one strategy can be rewritten as those of another: "ddp", "zero1" and "zero2" can, as
/// DeepSpeed's ZeRO replaces the all_reduce of a bucket by a reduce_scatter, and by an all_gather after the
/// optimizer; and all of them as "mirrored", which reduces all gradients together after the last one is ready
/// (packing takes no time). Steps of mirrored do not record when each gradient was ready, so they cannot be
/// rewritten; nor can those of other strategies, of which zero3 gathers parameters in the midst of a pass.
bool can_change_strategy(const std::string& from, const std::string& to);

/// The recorded steps rewritten for `strategy` on `ranks` ranks. ZeRO's ranks update 1 / ranks of the
/// parameters each, and the optimizer's time scales with it, also if only the number of ranks changes. From
/// ddp: each bucket is reduce-scattered where it was all-reduced, and all are gathered after the optimizer.
/// To ddp: the reverse. Transfers of rewritten steps are empty. Without accumulation zero2 equals zero1.
/// Throws Error{kBadInput} where can_change_strategy() is false or the recording has no gradient buckets.
StepRecording with_strategy(const StepRecording& recording, const std::string& strategy, int ranks);

}  // namespace ddbench::analyzer
