#pragma once

#include "harness/collective/communicator.h"
#include "harness/device/gpu/gpu.h"

namespace ddbench::collective::nccl_backend {

inline bool is_gpu_memory(const void* data) {
  cudaPointerAttributes attributes{};
  const cudaError_t status = cudaPointerGetAttributes(&attributes, data);
  cudaGetLastError();
  return status == cudaSuccess &&
         (attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged);
}

/// Elements where NCCL can read and write them: in the memory of `device`, which becomes the calling thread's.
class OnDevice {
 public:
  OnDevice(const Elements& elements, int device, cudaStream_t stream) : elements_(elements), stream_(stream) {
    if (elements.count == 0) return;
    gpu::check(cudaSetDevice(device), "be selected");  // or a thread's first call makes a context on GPU 0
    if (is_gpu_memory(elements.data)) return;
    gpu::check(cudaMallocAsync(&copy_, size(), stream_), "allocate memory for a collective");
    gpu::check(cudaMemcpyAsync(copy_, elements_.data, size(), cudaMemcpyHostToDevice, stream_),
               "copy from the host");
  }
  ~OnDevice() {
    if (copy_ != nullptr) cudaFreeAsync(copy_, stream_);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  void* data() const noexcept { return copy_ != nullptr ? copy_ : elements_.data; }
  /// To where they came from, after the collective.
  void bring_back() {
    if (copy_ == nullptr) return;
    gpu::check(cudaMemcpyAsync(elements_.data, copy_, size(), cudaMemcpyDeviceToHost, stream_),
               "copy to the host");
    gpu::check(cudaStreamSynchronize(stream_), "copy to the host");
  }

 private:
  std::size_t size() const noexcept { return static_cast<std::size_t>(elements_.bytes()); }

  const Elements elements_;
  cudaStream_t stream_;
  void* copy_ = nullptr;
};

}  // namespace ddbench::collective::nccl_backend
