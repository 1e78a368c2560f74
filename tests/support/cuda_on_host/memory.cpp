// Memory and the device itself. Allocated memory is filled with NaN, so that unwritten memory is not taken
// for zero; access outside of allocations is found by AddressSanitizer.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "stream.h"

namespace ddbench::cuda_on_host {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr int kNaN = 0xFF;

thread_local cudaError_t last_error = cudaSuccess;

struct Allocation {
  std::size_t bytes = 0;
  cudaMemoryType type = cudaMemoryTypeUnregistered;
};
std::map<const std::byte*, Allocation>& allocations() {
  static auto& kept = *new std::map<const std::byte*, Allocation>;
  return kept;
}

Allocation allocation_of(const void* memory) {
  const auto* const at = static_cast<const std::byte*>(memory);
  auto found = allocations().upper_bound(at);
  if (found == allocations().begin()) return {};
  --found;
  return at < found->first + found->second.bytes ? found->second : Allocation{};
}

cudaError_t allocate(void** memory, std::size_t bytes, cudaMemoryType type) {
  const std::lock_guard lock(device_lock());
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  *memory = std::aligned_alloc(kAlignment, rounded);
  if (*memory == nullptr) return remember(cudaErrorMemoryAllocation);
  std::memset(*memory, kNaN, rounded);
  allocations()[static_cast<std::byte*>(*memory)] = {bytes, type};
  return cudaSuccess;
}

bool release(void* memory) {
  const std::lock_guard lock(device_lock());
  if (allocations().erase(static_cast<std::byte*>(memory)) == 0) return false;
  std::free(memory);
  return true;
}

}  // namespace

cudaError_t remember(cudaError_t status) {
  if (status != cudaSuccess) last_error = status;
  return status;
}

}  // namespace ddbench::cuda_on_host

using namespace ddbench::cuda_on_host;

extern "C" {

cudaError_t cudaGetLastError() {
  return std::exchange(last_error, cudaSuccess);
}
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorNotReady: return "device not ready";
    case cudaErrorStreamCaptureUnsupported: return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated: return "operation failed due to a previous error during capture";
    case cudaErrorStreamCaptureUnjoined: return "capturing stream has unjoined work";
    case cudaErrorStreamCaptureIsolation: return "dependency created on uncaptured work in another stream";
    default: return "an error of CUDA on the host";
  }
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return device == 0 ? cudaSuccess : remember(cudaErrorInvalidDevice);
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  constexpr std::string_view kName = "the host in place of a GPU";
  std::copy(kName.begin(), kName.end(), properties->name);
  std::fill(std::begin(properties->uuid.bytes), std::end(properties->uuid.bytes), '\x11');
  properties->major = 9;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  if (attribute != cudaDevAttrMaxSharedMemoryPerBlockOptin) return remember(cudaErrorInvalidValue);
  *value = kMostSharedMemory;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
  *pool = nullptr;
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void* value) {
  *static_cast<std::uint64_t*>(value) = 0;  // there is no pool that keeps memory
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  if (breaks_capture()) return remember(cudaErrorStreamCaptureUnsupported);
  return allocate(memory, bytes, cudaMemoryTypeDevice);
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  if (breaks_capture()) return remember(cudaErrorStreamCaptureUnsupported);
  return allocate(memory, bytes, cudaMemoryTypeHost);
}
// In a graph it would be memory of the graph, which nothing here is made for.
cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t) {
  if (breaks_capture()) return remember(cudaErrorStreamCaptureUnsupported);
  return allocate(memory, bytes, cudaMemoryTypeDevice);
}
cudaError_t cudaFree(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  if (breaks_capture()) return remember(cudaErrorStreamCaptureUnsupported);
  finish_everything();
  return release(memory) ? cudaSuccess : remember(cudaErrorInvalidValue);
}
cudaError_t cudaFreeHost(void* memory) {
  return cudaFree(memory);
}
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  if (memory == nullptr) return remember(cudaErrorInvalidValue);
  if (breaks_capture()) return remember(cudaErrorStreamCaptureUnsupported);
  return enqueue(stream, [memory] {
    release(memory);
    return true;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  const std::lock_guard lock(device_lock());
  *attributes = {};
  attributes->type = allocation_of(memory).type;
  return cudaSuccess;
}

cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  if (breaks_capture()) return remember(cudaErrorStreamCaptureUnsupported);
  finish_everything();
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  return enqueue(stream, [memory, value, bytes] {
    std::memset(memory, value, bytes);
    return true;
  });
}
// What is copied from ordinary memory of the host is read at once, from pinned memory when the stream comes
// to it.
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const std::lock_guard lock(device_lock());
  if (kind == cudaMemcpyHostToDevice && allocation_of(from).type == cudaMemoryTypeUnregistered) {
    const auto* const first = static_cast<const std::byte*>(from);
    return enqueue(stream, [to, read = std::vector<std::byte>(first, first + bytes)] {
      std::memcpy(to, read.data(), read.size());
      return true;
    });
  }
  return enqueue(stream, [to, from, bytes] {
    std::memmove(to, from, bytes);
    return true;
  });
}

}  // extern "C"
