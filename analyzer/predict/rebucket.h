#pragma once

#include "analyzer/predict/step_recording.h"

namespace ddbench::analyzer {

/// Gradient collectives in buckets of `bucket_bytes`, the first of at most `first_bytes`. See changed().
StepRecording rebucketed(const StepRecording& recording, double bucket_bytes, double first_bytes);

/// Whether the collective reduces a bucket of gradients.
bool reduces_gradients(const StepCollective& collective);

}  // namespace ddbench::analyzer
