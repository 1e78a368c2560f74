#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace ddbench::testing {

/// The real modules' folder: of the build, or the one that they were packed into.
inline std::string modules() {
  ::setenv("DDBENCH_MODULE_DIR", DDBENCH_MODULES, 0);
  return std::getenv("DDBENCH_MODULE_DIR");
}

inline bool has_gpu() {
  return std::filesystem::exists("/dev/nvidiactl");
}

/// The driver's functions by name, without linking the driver. Arguments have the types of the function's
/// parameters; the result is a CUresult, -1 where there is no such function.
struct Driver {
  template <typename... Arguments>
  int call(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(::dlsym(library, name));
    return function != nullptr ? function(arguments...) : -1;
  }
  /// The first GPU for this thread; whether there is one.
  bool take_gpu() const {
    void* context = nullptr;
    return call("cuInit", 0u) == 0 && call("cuDevicePrimaryCtxRetain", &context, 0) == 0 &&
           call("cuCtxSetCurrent", context) == 0;
  }
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
};

}  // namespace ddbench::testing
