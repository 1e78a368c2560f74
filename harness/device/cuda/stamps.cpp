#include "harness/device/cuda/stamps.h"

#include "core/clock.h"

namespace ddbench::device::cuda {

void Anchor::drop(cudaStream_t stream) {
  gpu::check(cudaEventRecord(event_.get(), stream), "time what is queued");
  gpu::check(cudaEventSynchronize(event_.get()), "finish what was queued");
  at_ns_ = now_ns();
}

std::int64_t Anchor::time_of(cudaEvent_t event) const {
  float before_ms = 0;
  gpu::check(cudaEventElapsedTime(&before_ms, event, event_.get()), "read the time between two events");
  return at_ns_ - static_cast<std::int64_t>(static_cast<double>(before_ms) * 1e6);
}

std::size_t Stamps::add(cudaStream_t stream, unsigned flags) noexcept {
  cudaError_t status = cudaSuccess;
  if (used_ == events_.size()) {
    cudaEvent_t made = nullptr;
    status = cudaEventCreate(&made);
    events_.emplace_back(made);
  }
  if (status == cudaSuccess) status = cudaEventRecordWithFlags(events_[used_].get(), stream, flags);
  fail(status);
  return used_++;
}

void Stamps::read(const Anchor& anchor, std::vector<std::int64_t>& times_ns) const {
  check();
  times_ns.clear();
  for (std::size_t i = 0; i < used_; ++i) times_ns.push_back(anchor.time_of(events_[i].get()));
}

}  // namespace ddbench::device::cuda
