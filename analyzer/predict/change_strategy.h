#pragma once

#include <string>

#include "analyzer/predict/step_recording.h"

namespace ddbench::analyzer {

/// Whether the steps of one strategy can be rewritten as those of another: "ddp", "zero1" and "zero2" can, as
/// DeepSpeed's ZeRO replaces the all_reduce of a bucket by a reduce_scatter, and by an all_gather after the optimizer; and all
/// of them as "mirrored", which reduces all gradients together after the last one is ready (packing takes no time). Steps of
/// mirrored do not tell when each gradient was ready, so that they stay what they are, as those of others do.
bool can_change_strategy(const std::string& from, const std::string& to);

/// The recorded steps as `strategy` does them on `ranks` ranks. ZeRO's ranks update 1 / ranks of the parameters each, which
/// the optimizer's time follows, also where the strategy stays and the number of ranks changes. From ddp: each bucket is
/// reduce-scattered where it was all-reduced, and all are gathered after the optimizer. To ddp: the reverse. Transfers of
/// rewritten steps are empty. Without accumulation zero2 does what zero1 does.
/// Throws Error{kBadInput} where can_change_strategy() is false or the recording has no gradient buckets.
StepRecording with_strategy(const StepRecording& recording, const std::string& strategy, int ranks);

}  // namespace ddbench::analyzer
