#include "stream.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "block.h"
#include "counted_work.h"

namespace ddbench::cuda_on_host {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 20ms;  // before streams with no waiter advance: another process may need them
constexpr unsigned kMostThreads = 1024;
constexpr unsigned kMostBlocks = 65535;  // but in the first dimension

struct Streams {
  std::vector<cudaStream_t> all;
  bool is_driven = false;
};
// Never destroyed: threads and modules outlive static objects.
Streams& streams() {
  static auto& kept = *new Streams;
  return kept;
}

void drive() {
  for (;;) {
    std::this_thread::sleep_for(kPatience);
    const std::lock_guard lock(device_lock());
    for (const cudaStream_t stream : streams().all) advance(*stream->queue, stream->queue->added);
  }
}

bool fits(const cudaLaunchConfig_t& c) {
  const auto threads = std::uint64_t{c.blockDim.x} * c.blockDim.y * c.blockDim.z;
  const auto blocks = std::uint64_t{c.gridDim.x} * c.gridDim.y * c.gridDim.z;
  return threads > 0 && threads <= kMostThreads && blocks > 0 && c.gridDim.x <= 0x7FFF'FFFFU &&
         c.gridDim.y <= kMostBlocks && c.gridDim.z <= kMostBlocks;
}

/// Dynamic shared memory that kernels were allowed.
std::map<const void*, int>& allowed_memory() {
  static auto& kept = *new std::map<const void*, int>;
  return kept;
}

bool fits_memory(const void* kernel, std::size_t bytes) {
  const std::lock_guard lock(device_lock());
  const auto allowed = allowed_memory().find(kernel);
  return bytes <= static_cast<std::size_t>(allowed == allowed_memory().end() ? kFreeSharedMemory : allowed->second);
}

void run_grid(dim3 grid, dim3 block, std::size_t shared_bytes, const std::function<void()>& body) {
  for (unsigned z = grid.z; z-- > 0;) {
    for (unsigned y = grid.y; y-- > 0;) {
      for (unsigned x = grid.x; x-- > 0;) run_block(block, grid, {x, y, z}, shared_bytes, body);
    }
  }
}

}  // namespace

std::recursive_mutex& device_lock() {
  static auto& lock = *new std::recursive_mutex;
  return lock;
}

bool advance(Queue& queue, std::uint64_t last) {
  if (queue.running) return queue.done >= last;  // this work waits for itself, or for what is behind it
  queue.running = true;
  while (queue.done < last && !queue.work.empty() && queue.work.front()()) {
    queue.work.pop_front();
    ++queue.done;
  }
  queue.running = false;
  return queue.done >= last;
}

void finish_everything() {
  for (;;) {
    {
      const std::lock_guard lock(device_lock());
      bool done = true;
      for (const cudaStream_t stream : streams().all) done &= advance(*stream->queue, stream->queue->added);
      if (done) return;
    }
    std::this_thread::sleep_for(kRest);
  }
}

cudaError_t enqueue(cudaStream_t stream, Work work) {
  const std::lock_guard lock(device_lock());
  if (stream == nullptr)
    return remember(cudaErrorInvalidResourceHandle);  // no user of this library uses the default stream
  if (stream->capture) {
    stream->capture->work.push_back(std::move(work));
    const auto other = stream->capture->others.find(stream);
    if (other != stream->capture->others.end()) other->second = false;
    return cudaSuccess;
  }
  stream->queue->work.push_back(std::move(work));
  ++stream->queue->added;
  return cudaSuccess;
}

cudaError_t launch(const cudaLaunchConfig_t& configuration, const void* kernel, std::function<void()> body) {
  if (!fits(configuration)) return remember(cudaErrorInvalidConfiguration);
  if (!fits_memory(kernel, configuration.dynamicSmemBytes)) return remember(cudaErrorInvalidValue);
  count_work(CountedWork::kKernels);
  return enqueue(configuration.stream,
                 [grid = configuration.gridDim, block = configuration.blockDim,
                  shared_bytes = configuration.dynamicSmemBytes, body = std::move(body)] {
                   run_grid(grid, block, shared_bytes, body);
                   return true;
                 });
}

}  // namespace ddbench::cuda_on_host

using namespace ddbench::cuda_on_host;

extern "C" {

std::uint64_t ddbench_host_work(const char* what) {
  for (std::size_t i = 0; i < std::size(kCountedWork); ++i) {
    if (kCountedWork[i] == what) return counted_work[i];
  }
  return 0;
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 || value > kMostSharedMemory) {
    return remember(cudaErrorInvalidValue);
  }
  const std::lock_guard lock(device_lock());
  allowed_memory()[kernel] = value;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  const std::lock_guard lock(device_lock());
  *stream = new CUstream_st;
  streams().all.push_back(*stream);
  if (!std::exchange(streams().is_driven, true)) std::thread(drive).detach();
  return cudaSuccess;
}

// Remaining work is done first, which is later than CUDA promises; no program can see the difference.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  cudaStreamSynchronize(stream);
  const std::lock_guard lock(device_lock());
  std::erase(streams().all, stream);
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  std::unique_lock lock(device_lock());
  if (stream->capture) {
    stream->capture->broken = true;
    return remember(cudaErrorStreamCaptureUnsupported);
  }
  const auto queue = stream->queue;
  const std::uint64_t last = queue->added;
  while (!advance(*queue, last)) {
    lock.unlock();
    std::this_thread::sleep_for(kRest);
    lock.lock();
  }
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const std::lock_guard lock(device_lock());
  *status = !stream->capture          ? cudaStreamCaptureStatusNone
            : stream->capture->broken ? cudaStreamCaptureStatusInvalidated
                                      : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

}  // extern "C"
