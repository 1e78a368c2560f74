// Copies from the host: in the queue, and beside it on a stream of their own.
#include "harness/device/cuda/cuda_device.h"
#include "harness/device/expect.h"

namespace ddbench::device::cuda {
namespace {

cudaError_t copy_from_host(const void* source, const Tensor& destination, cudaStream_t stream) noexcept {
  return cudaMemcpyAsync(destination.data, source, static_cast<std::size_t>(destination.bytes()),
                         cudaMemcpyHostToDevice, stream);
}

}  // namespace

void CudaDevice::upload(const void* source, const Tensor& destination) {
  expect("upload", {{"destination", destination, destination.rows, destination.columns, destination.type}});
  gpu::check(copy_from_host(source, destination, stream_.get()), "copy from the host");
}

void CudaDevice::upload_ahead(const void* source, const Tensor& destination) {
  expect("upload_ahead",
         {{"destination", destination, destination.rows, destination.columns, destination.type}});
  gpu::check(order_uploads(), "order what is copied from the host");
  gpu::check(copy_from_host(source, destination, upload_stream_.get()), "copy from the host");
  gpu::check(end_uploads(), "order what is copied from the host");
}

void CudaDevice::await_uploads() {
  gpu::check(cudaStreamWaitEvent(stream_.get(), uploaded_.get(), 0), "wait for what is copied from the host");
}

// A stamp that follows the queue, as a copy does, records when the copy began and not when it was requested.
std::size_t CudaDevice::stamp_uploads() noexcept {
  const cudaError_t before = order_uploads();
  const std::size_t number = stamps_.add(upload_stream_.get(), cudaEventRecordDefault);
  const cudaError_t after = end_uploads();
  stamps_.fail(before != cudaSuccess ? before : after);
  return number;
}

/// The upload stream goes on when the queue has come to where it is now.
cudaError_t CudaDevice::order_uploads() noexcept {
  const cudaError_t status = cudaEventRecord(queued_.get(), stream_.get());
  return status == cudaSuccess ? cudaStreamWaitEvent(upload_stream_.get(), queued_.get(), 0) : status;
}

cudaError_t CudaDevice::end_uploads() noexcept {
  return cudaEventRecord(uploaded_.get(), upload_stream_.get());
}

}  // namespace ddbench::device::cuda
