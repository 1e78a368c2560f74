#include "ddbench/probe/open_cuda_probe.h"

#include "ddbench/module/module.h"
#include "ddbench/record/error.h"

namespace ddbench::probe {

std::unique_ptr<cuda::CudaProbe> open_cuda_probe(host::Recorder& recorder, std::string& why_not) {
  const module::ModuleRequest request{kCudaProbeFile, kCudaProbeInterface, "the probe of CUDA kernels",
                                      "the CUDA Toolkit 12 or later", "the CUPTI of the CUDA Toolkit"};
  try {
    auto probe = module::open_module<CudaProbeFactory>(request)(recorder);
    why_not = probe->unavailable();
    return why_not.empty() ? std::move(probe) : nullptr;
  } catch (const Error& error) {
    why_not = error.message();
    return nullptr;
  }
}

}  // namespace ddbench::probe
