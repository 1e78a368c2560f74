#pragma once

#include "harness/plugin/module.h"
#include "harness/plugin/probes/open_cuda_probe.h"

namespace ddbench::probe {

/// What makes the probe over CUPTI. Throws Error{kEnvironment} when this build has none, or a library that it
/// needs is missing.
inline CudaProbeFactory* open_cupti() {
  return module::open_module<CudaProbeFactory>({"ddbench_cupti_probe.so", kCudaProbeInterface,
                                                "the probe of CUDA kernels", "the CUDA Toolkit 12 or later",
                                                "the CUPTI of the CUDA Toolkit", true});
}

}  // namespace ddbench::probe
