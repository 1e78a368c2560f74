#include <dlfcn.h>
#include <fmt/format.h>

#include "core/error.h"
#include "harness/device/device.h"
#include "harness/plugin/module.h"

namespace ddbench::device {
namespace {

module::ModuleRequest request_of(std::string_view name) {
  if (name == "cpu") {
    return {.file = "ddbench_device_cpu.so",
            .interface = kDeviceInterface,
            .purpose = "the cpu device (oneDNN)",
            .build_package = "libdnnl-dev",
            .runtime_package = "oneDNN (libdnnl2 or libdnnl3)"};
  }
  if (name == "cuda") {
    return {.file = "ddbench_device_cuda.so",
            .interface = kDeviceInterface,
            .purpose = "the cuda device",
            .build_package = "the CUDA Toolkit and cuDNN",
            .runtime_package =
                "cuBLASLt and cuDNN 9 of the CUDA version that ddbench was built with, or name their "
                "folders in LD_LIBRARY_PATH",
            .needs_cuda = true};
  }
  throw Error(ErrorCode::kBadInput, fmt::format("device \"{}\" is not known; devices: cpu, cuda", name));
}

const DeviceModule& module_of(std::string_view name) {
  return *module::open_module<const DeviceModule>(request_of(name));
}

}  // namespace

std::unique_ptr<Device> make_device(std::string_view name, const DeviceOptions& options) {
  return module_of(name).make(options);
}

void check_device(std::string_view name) {
  module_of(name).check();
}

std::string best_device() {
  // The module brings libraries of hundreds of megabytes: without a driver they need not be looked at.
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return "cpu";
  dlclose(driver);
  try {
    check_device("cuda");
    return "cuda";
  } catch (const Error&) {
    return "cpu";  // its absence is reported when it is used
  }
}

}  // namespace ddbench::device
