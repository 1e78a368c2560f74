// The probe in a user's program: opened by injection.cpp and by NVTX (NVTX_INJECTION64_PATH). It throws no
// exceptions, and the program does not notice its failures.
#include <cuda.h>
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "core/facts/facts.h"
#include "probes/cupti/cupti.h"
#include "probes/preload/session/kernel_probe.h"
#include "probes/preload/session/process_recorder.h"

#define DDBENCH_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

ddbench::cuda::CudaProbe* probe =
    nullptr;  // never deleted: the device may be at work until the process is gone
pid_t owner = 0;  // the process that made it; in a forked child neither CUDA nor CUPTI can be called

/// Longer than a step takes; what is not done by then is not waited for: it may need this thread.
constexpr std::chrono::seconds kMostWait{10};
constexpr std::chrono::microseconds kBetweenLooks{200};

/// Before the recorder's own exit handler, which was registered earlier.
void stop_probe() noexcept {
  if (::getpid() != owner) return;
  ddbench::inject::set_kernel_probe(nullptr);
  probe->stop();
}

void wait_for_default_stream(CUresult (*query)(CUstream)) noexcept {
  const auto until = std::chrono::steady_clock::now() + kMostWait;
  while (query(nullptr) == CUDA_ERROR_NOT_READY && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(kBetweenLooks);
}

/// Waits for the default stream, which PyTorch works on and in which its optimizers wait for all others, and stops the probe. Not for the
/// whole context: while some stream is captured into a graph, that would fail the capture, and so the program.
void finish_gpu_work() noexcept {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) {
    probe->stop();
    return;
  }
  const auto exchange_mode = reinterpret_cast<CUresult (*)(CUstreamCaptureMode*)>(::dlsym(driver, "cuThreadExchangeStreamCaptureMode"));
  const auto is_capturing = reinterpret_cast<CUresult (*)(CUstream, CUstreamCaptureStatus*)>(::dlsym(driver, "cuStreamIsCapturing"));
  const auto query = reinterpret_cast<CUresult (*)(CUstream)>(::dlsym(driver, "cuStreamQuery"));
  // Also for what CUPTI calls as it ends.
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  const bool is_relaxed = exchange_mode != nullptr && exchange_mode(&mode) == CUDA_SUCCESS;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (is_relaxed && is_capturing != nullptr && query != nullptr && is_capturing(nullptr, &status) == CUDA_SUCCESS &&
      status == CU_STREAM_CAPTURE_STATUS_NONE)
    wait_for_default_stream(query);
  probe->stop();
  if (is_relaxed) exchange_mode(&mode);
  ::dlclose(driver);
}

/// The window is over, and the program goes on.
void conclude() noexcept {
  if (::getpid() == owner) finish_gpu_work();
}

}  // namespace

/// Called once, at the program's first call of CUDA. 1: all is well.
DDBENCH_EXPORT int InitializeInjection() try {
  ddbench::host::Recorder* const recorder =
      ddbench::inject::RecorderAccess().get();  // one that it opened stays
  if (recorder == nullptr || probe != nullptr) return 1;
  owner = ::getpid();
  probe = ddbench::cuda::make_cupti_probe(*recorder).release();
  if (probe->unavailable().empty()) {
    std::atexit(stop_probe);
    ddbench::inject::set_kernel_probe(conclude);
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
