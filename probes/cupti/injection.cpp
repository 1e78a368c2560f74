// What the CUDA driver loads into a program of the user's (CUDA_INJECTION64_PATH). It needs nothing of
// CUDA's, so that it always loads: the probe, beside it, does not where libcupti is missing, and the program
// runs on without.
#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "core/files/cuda_folders.h"
#include "core/facts/facts.h"
#include "probes/cuda/cuda_probe.h"
#include "probes/preload/session/process_recorder.h"

namespace {

constexpr const char* kProbe = "ddbench_inject_cupti.so";
constexpr int kNewestCupti = 15;
constexpr int kOldestCupti = 11;

using Initialize = int (*)();

/// The version of the CUPTI that the program itself has loaded (PyTorch does): a second one beside it would
/// fight it for the driver. 0: none.
int loaded_cupti() noexcept {
  for (int major = kNewestCupti; major >= kOldestCupti; --major) {
    const std::string name = "libcupti.so." + std::to_string(major);
    if (void* const loaded = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD)) return ::dlclose(loaded), major;
  }
  return 0;
}

/// nullptr, with the reason in `why_not`, if the probe is not available.
void* open_probe(std::string& why_not) {
  Dl_info own{};
  ::dladdr(reinterpret_cast<void*>(&open_probe), &own);
  const auto folder = std::filesystem::path(own.dli_fname).parent_path();
  for (const auto& place : ddbench::cuda_folders(folder, ddbench::cuda_of_driver(), loaded_cupti())) {
    std::error_code unreadable;
    if (!std::filesystem::exists(place / kProbe, unreadable)) continue;
    void* const probe = ::dlopen((place / kProbe).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (probe != nullptr && ::dlsym(probe, "InitializeInjection") != nullptr) return probe;
    const char* const error = ::dlerror();
    if (why_not.empty()) {
      why_not = std::string(error != nullptr ? error : kProbe) + "; is the CUPTI of the CUDA Toolkit installed?";
    }
  }
  if (why_not.empty()) {
    why_not = "this build of ddbench has no probe of CUDA kernels: build it where the CUDA Toolkit is";
  }
  return nullptr;
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
  if (void* const probe = open_probe(why_not)) {
    return reinterpret_cast<Initialize>(::dlsym(probe, "InitializeInjection"))();
  }
  report_failure(why_not);
  return 1;
} catch (...) {
  return 1;
}

/// NVTX's, at the program's first range: of the same probe.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(void* get_export_table) try {
  std::string why_not;
  void* const probe = open_probe(why_not);
  void* const initialize = probe != nullptr ? ::dlsym(probe, "InitializeInjectionNvtx2") : nullptr;
  return initialize != nullptr ? reinterpret_cast<int (*)(void*)>(initialize)(get_export_table) : 0;
} catch (...) {
  return 0;
}
