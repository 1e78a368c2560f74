#pragma once

#include <memory>

#include "probes/cuda/cuda_probe.h"

namespace ddbench::cuda {

/// The probe over CUPTI itself, for the shared objects that link it; all else asks ddbench/probe for one.
/// Does not throw for what this machine lacks (CudaProbe::unavailable()). The recorder outlives the probe.
std::unique_ptr<CudaProbe> make_cupti_probe(host::Recorder& recorder);

}  // namespace ddbench::cuda
