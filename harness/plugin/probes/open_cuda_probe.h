#pragma once

#include <memory>
#include <string>

#include "probes/cuda/cuda_probe.h"

namespace ddbench::probe {

/// What the modules ddbench_cuda_probe.so and, for it, ddbench_cupti_probe.so make, and in which version.
using CudaProbeFactory = std::unique_ptr<cuda::CudaProbe>(host::Recorder& recorder);
inline constexpr const char* kCudaProbeFile = "ddbench_cuda_probe.so";
inline constexpr const char* kCudaProbeInterface = "cuda_probe/5";

/// Starts recording the activity of this process's GPUs into `recorder`, which must outlive it; NCCL's
/// profiler plug-in records there, too, as long as the probe lives. Make it before the first communicator.
/// `why_not` is empty when kernels are recorded. Otherwise time enqueued work with events, and report the
/// reason with the run: CUPTI cannot be used here (another tool holds it, libcupti is missing; only NCCL's
/// profiler records), or this is a partial copy of ddbench (nullptr).
std::unique_ptr<cuda::CudaProbe> open_cuda_probe(host::Recorder& recorder, std::string& why_not);

/// Throws Error{kEnvironment} when this build has no probe over CUPTI, or a library that it needs is missing.
/// Whether CUPTI is free shows when a run starts.
void check_cuda_probe();

}  // namespace ddbench::probe
