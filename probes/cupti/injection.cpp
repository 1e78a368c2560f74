// What the CUDA driver loads into a program of the user's (CUDA_INJECTION64_PATH). It needs nothing of
// CUDA's, so that it always loads: the probe, beside it, does not where libcupti is missing, and the program
// runs on without.
#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "core/facts/facts.h"
#include "probes/cuda/cuda_probe.h"
#include "probes/preload/session/process_recorder.h"

namespace {

constexpr const char* kProbe = "ddbench_inject_cupti.so";

using Initialize = int (*)();

/// nullptr, with the reason in `why_not`, if the probe is not available.
Initialize open_probe(std::string& why_not) {
  Dl_info own{};
  ::dladdr(reinterpret_cast<void*>(&open_probe), &own);
  const auto file = std::filesystem::path(own.dli_fname).parent_path() / kProbe;
  std::error_code unreadable;
  if (!std::filesystem::exists(file, unreadable)) {
    why_not = "this build of ddbench has no probe of CUDA kernels: build it where the CUDA Toolkit is";
    return nullptr;
  }
  void* const probe = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* const initialize = probe != nullptr ? ::dlsym(probe, "InitializeInjection") : nullptr;
  if (initialize == nullptr) {
    const char* const error = ::dlerror();
    why_not =
        std::string(error != nullptr ? error : kProbe) + "; is the CUPTI of the CUDA Toolkit installed?";
  }
  return reinterpret_cast<Initialize>(initialize);
}

/// A name that the launcher finds.
void report_failure(const std::string& why_not) {
  const ddbench::inject::RecorderAccess access;
  if (access.get() != nullptr)
    access.get()->intern(ddbench::reported(ddbench::fact_key<"cupti.unavailable">, why_not));
}

}  // namespace

/// Called once, at the program's first call of CUDA. 1: all is well.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() try {
  std::string why_not;
  if (const Initialize initialize = open_probe(why_not)) return initialize();
  report_failure(why_not);
  return 1;
} catch (...) {
  return 1;
}
