// The points of the queue that others wait for, and when it passed them.
#include "cuda_device.h"
#include "ddbench/record/clock.h"

namespace ddbench::device::cuda {

void CudaDevice::synchronize() {
  gpu::check(cudaStreamSynchronize(stream_.get()), "finish what was queued");
}

// A slot that was taken again names a later point: waiting for it is waiting long enough.
std::uint64_t CudaDevice::mark() {
  gpu::check(cudaEventRecord(marks_[next_mark_ % marks_.size()].get(), stream_.get()),
             "mark a point of its queue");
  return next_mark_++;
}

void CudaDevice::wait_for(std::uint64_t mark) {
  gpu::check(cudaEventSynchronize(marks_[mark % marks_.size()].get()), "finish what was queued");
}

std::size_t CudaDevice::stamp() noexcept {
  return stamp_on(stream_.get());
}

std::size_t CudaDevice::stamp_on(cudaStream_t stream) noexcept {
  cudaError_t status = cudaSuccess;
  if (stamps_used_ == stamps_.size()) {
    cudaEvent_t made = nullptr;
    status = cudaEventCreate(&made);
    stamps_.emplace_back(made);
  }
  if (status == cudaSuccess) status = cudaEventRecord(stamps_[stamps_used_].get(), stream);
  if (stamp_failure_ == cudaSuccess) stamp_failure_ = status;
  return stamps_used_++;
}

// The anchor is passed when the host hears of it, but for the microseconds that hearing takes.
void CudaDevice::read_stamps(std::vector<std::int64_t>& times_ns) {
  gpu::check(stamp_failure_, "time what is queued");
  await_uploads();
  gpu::check(cudaEventRecord(anchor_.get(), stream_.get()), "time what is queued");
  gpu::check(cudaEventSynchronize(anchor_.get()), "finish what was queued");
  const std::int64_t anchor_ns = now_ns();
  times_ns.clear();
  for (std::size_t i = 0; i < stamps_used_; ++i) {
    float before_ms = 0;
    gpu::check(cudaEventElapsedTime(&before_ms, stamps_[i].get(), anchor_.get()), "tell times");
    times_ns.push_back(anchor_ns - static_cast<std::int64_t>(static_cast<double>(before_ms) * 1e6));
  }
  stamps_used_ = 0;
}

}  // namespace ddbench::device::cuda
