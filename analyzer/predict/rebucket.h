#pragma once

#include <string>

#include "analyzer/predict/step_recording.h"

namespace ddbench::analyzer {

/// Why gradients cannot be put into buckets of this size: there would be more than can be replayed. Empty where they can.
std::string why_too_many_buckets(const StepRecording& recording, double bucket_bytes);

/// Gradient collectives in buckets of `bucket_bytes`, the first of at most `first_bytes`. See changed().
StepRecording rebucketed(const StepRecording& recording, double bucket_bytes, double first_bytes);

/// Whether the collective reduces a bucket of gradients.
bool reduces_gradients(const StepCollective& collective);

}  // namespace ddbench::analyzer
