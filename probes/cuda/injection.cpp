// What the CUDA driver loads into a program of the user's (CUDA_INJECTION64_PATH). It needs nothing of
// CUDA's, so that it always loads: the probe, beside it, does not where libcupti is missing, and the program
// runs on without.
#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "ddbench/cuda/cuda_probe.h"
#include "ddbench/inject/process_recorder.h"

namespace {

constexpr const char* kProbe = "ddbench_inject_cupti.so";

void* open_probe() {
  Dl_info own{};
  ::dladdr(reinterpret_cast<void*>(&open_probe), &own);
  const auto probe = std::filesystem::path(own.dli_fname).parent_path() / kProbe;
  return ::dlopen(probe.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

/// A name that the launcher finds.
void tell_why_not(const char* why) {
  const ddbench::inject::RecorderAccess access;
  if (access.get() == nullptr) return;
  access.get()->intern(ddbench::cuda::kUnavailableName + (why != nullptr ? why : kProbe) +
                       "; is the CUPTI of the CUDA Toolkit installed?");
}

}  // namespace

/// Called once, at the program's first call of CUDA. 1: all is well.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() try {
  if (void* const probe = open_probe()) {
    return reinterpret_cast<int (*)()>(::dlsym(probe, "InitializeInjection"))();
  }
  tell_why_not(::dlerror());
  return 1;
} catch (...) {
  return 1;
}
