#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "core/unique_handle.h"

/// What every part that computes on NVIDIA GPUs shares: which GPU is a rank's, errors, streams and events.
namespace ddbench::gpu {

/// Throws for a status that is no success: Error{kEnvironment} where memory is short, else
/// Error{kRunFailed}, with CUDA's words and `what` was tried ("copy the batch").
void check(cudaError_t status, const char* what);

/// GPUs that this process may use, at least one. Throws Error{kEnvironment} stating why there is none: no
/// driver, one that is too old for this build, or no device. Takes no memory of a GPU.
int count();

/// The GPU of a rank (gpu_of_rank.h) becomes the calling thread's; returns its number.
int select(int rank);

/// "NVIDIA H100 80GB HBM3, sm_90, CUDA 13.0"
std::string description(int device);

using Stream = UniqueHandle<CUstream_st, cudaStreamDestroy>;
using Event = UniqueHandle<CUevent_st, cudaEventDestroy>;

/// A stream of the calling thread's GPU that does not wait for the legacy default stream.
Stream make_stream();
/// `timed` events can return when they were passed.
Event make_event(bool timed);

/// Throws Error{kRunFailed} with the reason `why` while the stream is captured into a graph, which cannot
/// contain the operation.
void refuse_in_capture(cudaStream_t stream, const char* why);

}  // namespace ddbench::gpu
