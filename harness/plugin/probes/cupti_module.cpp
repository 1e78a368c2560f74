// The probe over CUPTI as a separate module: a machine without libcupti lacks only this module.
#include "harness/plugin/module.h"
#include "harness/plugin/probes/open_cuda_probe.h"
#include "probes/cupti/cupti.h"

namespace {

const ddbench::module::ModuleEntry kEntry{ddbench::module::kEntryLayout, ddbench::probe::kCudaProbeInterface,
                                          reinterpret_cast<void*>(&ddbench::cuda::make_cupti_probe)};

}  // namespace

DDBENCH_MODULE_ENTRY const ddbench::module::ModuleEntry* ddbench_module_entry() {
  return &kEntry;
}
