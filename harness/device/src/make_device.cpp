#include <fmt/format.h>

#include "ddbench/device/device.h"
#include "ddbench/module/module.h"
#include "ddbench/record/error.h"

namespace ddbench::device {

std::unique_ptr<Device> make_device(std::string_view name) {
  if (name == "cuda") {
    throw Error(ErrorCode::kEnvironment, "this build of ddbench has no cuda device: use --device cpu");
  }
  if (name != "cpu") {
    throw Error(ErrorCode::kBadInput, fmt::format("device \"{}\" is not known; devices: cpu", name));
  }
  const module::ModuleRequest request{.file = "ddbench_device_cpu.so",
                                      .interface = kDeviceInterface,
                                      .purpose = "the cpu device (oneDNN)",
                                      .build_package = "libdnnl-dev",
                                      .runtime_package = "oneDNN (libdnnl2 or libdnnl3)"};
  return module::open_module<DeviceFactory>(request)();
}

}  // namespace ddbench::device
