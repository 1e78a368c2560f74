#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ddbench::module {

/// What a module (a shared object opened at run time) reports about itself. Plain C layout: it is read before
/// anything else about the module is trusted.
struct ModuleEntry {
  std::uint32_t layout;   ///< kEntryLayout of the module's build
  const char* interface;  ///< what `factory` makes and in which version: "device/1"
  void* factory;          ///< a C++ function, or a structure of them, whose type `interface` defines
};

inline constexpr std::uint32_t kEntryLayout = 1;
/// Each module exports `extern "C" const ModuleEntry* ddbench_module_entry()` under this name.
inline constexpr const char* kEntrySymbol = "ddbench_module_entry";
using ModuleEntryFunction = const ModuleEntry* (*)();

#define DDBENCH_MODULE_ENTRY extern "C" __attribute__((visibility("default")))

/// Which module is wanted, in words for the error messages too.
struct ModuleRequest {
  std::string file;             ///< "ddbench_device_cpu.so"
  std::string interface;        ///< "device/1"
  std::string purpose;          ///< "the cpu device"
  std::string build_package;    ///< what must be installed when ddbench is built: "libdnnl-dev"
  std::string runtime_package;  ///< what must be installed when it runs: "libdnnl2 or libdnnl3"
  bool needs_cuda = false;      ///< there may be one for each version of CUDA (core/files/cuda_folders.h)
};

/// Where modules are looked for, in this order: $DDBENCH_MODULE_DIR, ../lib/ddbench beside the executable's
/// folder, the same under the configured library folder, and the folder of `cmake --install`.
std::vector<std::filesystem::path> module_directories();

/// Opens the first module `request.file` in `directories` and returns its factory. Of those for several versions
/// of CUDA in one directory it is the newest that the driver and this machine's libraries fit. The module stays open
/// until the process ends. Throws Error{kEnvironment} stating what to install when the module or a library
/// that it needs is missing, or when it comes from another version of ddbench. Thread-safe.
void* open_factory(const ModuleRequest& request, const std::vector<std::filesystem::path>& directories);

/// The same in module_directories(), as the interface's type.
template <typename Factory>
Factory* open_module(const ModuleRequest& request) {
  return reinterpret_cast<Factory*>(open_factory(request, module_directories()));
}

}  // namespace ddbench::module
