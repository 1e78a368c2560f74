#include "harness/plugin/module.h"
#include "harness/device/cuda/cuda_device.h"

namespace {

using ddbench::device::Device;
using ddbench::device::DeviceOptions;

std::unique_ptr<Device> make(const DeviceOptions& options) {
  return std::make_unique<ddbench::device::cuda::CudaDevice>(options);
}

void check() {
  static_cast<void>(ddbench::gpu::count());
}

ddbench::device::DeviceModule device_module{.make = &make, .check = &check};

const ddbench::module::ModuleEntry kEntry{ddbench::module::kEntryLayout, ddbench::device::kDeviceInterface,
                                          &device_module};

}  // namespace

DDBENCH_MODULE_ENTRY const ddbench::module::ModuleEntry* ddbench_module_entry() {
  return &kEntry;
}
