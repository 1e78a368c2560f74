#include "harness/plugin/probes/open_cuda_probe.h"

#include "core/error.h"
#include "harness/plugin/module.h"
#include "harness/plugin/probes/open_cupti.h"

namespace ddbench::probe {

void check_cuda_probe() {
  open_cupti();
}

std::unique_ptr<cuda::CudaProbe> open_cuda_probe(host::Recorder& recorder, std::string& why_not) {
  try {
    auto* const make = module::open_module<CudaProbeFactory>(
        {kCudaProbeFile, kCudaProbeInterface, "the probe of GPUs", "all of ddbench", "all of ddbench"});
    auto probe = make(recorder);
    why_not = probe->unavailable();
    return probe;
  } catch (const Error& error) {
    why_not = error.message();
    return nullptr;
  }
}

}  // namespace ddbench::probe
