#include "ddbench/probe/open_cuda_probe.h"

#include "ddbench/module/module.h"
#include "ddbench/record/error.h"

namespace ddbench::probe {
namespace {

CudaProbeFactory* open_factory() {
  return module::open_module<CudaProbeFactory>({kCudaProbeFile, kCudaProbeInterface,
                                                "the probe of CUDA kernels", "the CUDA Toolkit 12 or later",
                                                "the CUPTI of the CUDA Toolkit"});
}

}  // namespace

void check_cuda_probe() {
  open_factory();
}

std::unique_ptr<cuda::CudaProbe> open_cuda_probe(host::Recorder& recorder, std::string& why_not) {
  try {
    auto probe = open_factory()(recorder);
    why_not = probe->unavailable();
    return probe;
  } catch (const Error& error) {
    why_not = error.message();
    return nullptr;
  }
}

}  // namespace ddbench::probe
