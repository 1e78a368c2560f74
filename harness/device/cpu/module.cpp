#include <omp.h>

#include "harness/device/cpu/cpu_device.h"
#include "harness/plugin/module.h"

namespace {

std::unique_ptr<ddbench::device::Device> make(const ddbench::device::DeviceOptions&) {
  omp_set_num_threads(1);  // oneDNN computes on OpenMP's threads: a rank is one core
  return std::make_unique<ddbench::device::cpu::CpuDevice>();
}

ddbench::device::DeviceModule device_module{.make = &make, .check = [] {}};

const ddbench::module::ModuleEntry kEntry{ddbench::module::kEntryLayout, ddbench::device::kDeviceInterface,
                                          &device_module};

}  // namespace

DDBENCH_MODULE_ENTRY const ddbench::module::ModuleEntry* ddbench_module_entry() {
  return &kEntry;
}
