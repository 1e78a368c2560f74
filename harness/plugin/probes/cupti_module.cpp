// The probe over CUPTI as a module of its own: what a machine without libcupti lacks is this, and nothing
// else.
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
