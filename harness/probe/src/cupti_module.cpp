// The probe over CUPTI as a module of its own: what a machine without libcupti lacks is this, and nothing
// else.
#include "ddbench/cuda/cupti.h"
#include "ddbench/module/module.h"
#include "ddbench/probe/open_cuda_probe.h"

namespace {

const ddbench::module::ModuleEntry kEntry{ddbench::module::kEntryLayout, ddbench::probe::kCudaProbeInterface,
                                          reinterpret_cast<void*>(&ddbench::cuda::make_cupti_probe)};

}  // namespace

DDBENCH_MODULE_ENTRY const ddbench::module::ModuleEntry* ddbench_module_entry() {
  return &kEntry;
}
