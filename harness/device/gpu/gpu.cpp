#include "harness/device/gpu/gpu.h"

#include <fmt/format.h>

#include <cstdlib>

#include "core/error.h"
#include "harness/device/gpu/gpu_of_rank.h"

namespace ddbench::gpu {
namespace {

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// What to do about a machine on which CUDA finds no GPU.
std::string remedy(cudaError_t status) {
  switch (status) {
    case cudaErrorInsufficientDriver: {
      int driver = 0;
      cudaDriverGetVersion(&driver);
      if (driver == 0) return "this machine has no NVIDIA driver: use --device cpu, or a machine with a GPU";
      return fmt::format("its driver knows CUDA {}, but this build needs {}: install a newer NVIDIA driver",
                         version_text(driver), version_text(CUDART_VERSION));
    }
    case cudaErrorNoDevice:
      return "no GPU can be seen (CUDA_VISIBLE_DEVICES, or the container's settings): use --device cpu";
    default: return "nvidia-smi may show more";
  }
}

}  // namespace

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // clears the error, so that it is not reported twice
  const bool no_memory = status == cudaErrorMemoryAllocation;
  throw Error(no_memory ? ErrorCode::kEnvironment : ErrorCode::kRunFailed,
              fmt::format("the GPU cannot {}: {}{}", what, cudaGetErrorString(status),
                          no_memory ? "; lower the batch or the workload's size" : ""),
              status, what);
}

int count() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices > 0) return devices;
  const cudaError_t cause = status == cudaSuccess ? cudaErrorNoDevice : status;
  cudaGetLastError();
  throw Error(ErrorCode::kEnvironment,
              fmt::format("no GPU can be used: {} ({})", remedy(cause), cudaGetErrorString(cause)), cause,
              "count GPUs");
}

int select(int rank) {
  const int device = gpu_of_rank(rank, std::getenv(kLocalRankVariable), count());
  check(cudaSetDevice(device), "be selected");
  return device;
}

std::string description(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "be described");
  return fmt::format("{}, sm_{}{}, CUDA {}", properties.name, properties.major, properties.minor,
                     version_text(CUDART_VERSION));
}

Stream make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "make a stream");
  return Stream(stream);
}

Event make_event(bool timed) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, timed ? cudaEventDefault : cudaEventDisableTiming), "make an event");
  return Event(event);
}

void refuse_in_capture(cudaStream_t stream, const char* why) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "query whether a stream captures a graph");
  if (status == cudaStreamCaptureStatusNone) return;
  throw Error(ErrorCode::kRunFailed, fmt::format("a CUDA graph cannot be captured: {}", why),
              cudaErrorStreamCaptureUnsupported, "capture a graph");
}

}  // namespace ddbench::gpu
