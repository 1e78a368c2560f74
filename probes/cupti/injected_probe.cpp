// The probe in a user's program: opened by injection.cpp and by NVTX (NVTX_INJECTION64_PATH). It throws no
// exceptions, and the program does not notice its failures.
#include <dlfcn.h>

#include <cstdlib>

#include "core/facts/facts.h"
#include "probes/cupti/cupti.h"
#include "probes/preload/session/process_recorder.h"

#define DDBENCH_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

ddbench::cuda::CudaProbe* probe =
    nullptr;  // never deleted: the device may be at work until the process is gone

/// Before the recorder's own exit handler, which was registered earlier.
void stop_probe() noexcept {
  probe->stop();
}

}  // namespace

/// Called once, at the program's first call of CUDA. 1: all is well.
DDBENCH_EXPORT int InitializeInjection() try {
  ddbench::host::Recorder* const recorder =
      ddbench::inject::RecorderAccess().get();  // one that it opened stays
  if (recorder == nullptr || probe != nullptr) return 1;
  probe = ddbench::cuda::make_cupti_probe(*recorder).release();
  if (probe->unavailable().empty()) {
    std::atexit(stop_probe);
  } else {
    recorder->intern(ddbench::reported(ddbench::fact_key<"cupti.unavailable">, probe->unavailable()));
  }
  return 1;
} catch (...) {
  return 1;
}

/// NVTX's records are CUPTI's business.
DDBENCH_EXPORT int InitializeInjectionNvtx2(void* get_export_table) {
  using Initialize = int (*)(void*);
  void* const cupti = ::dlsym(RTLD_NEXT, "InitializeInjectionNvtx2");
  return cupti != nullptr ? reinterpret_cast<Initialize>(cupti)(get_export_table) : 0;
}
