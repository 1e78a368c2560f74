// The points of the queue that others wait for, and when it passed them.
#include "harness/device/cuda/cuda_device.h"

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
  gpu::check(cudaSetDevice(device_), "be selected");  // or a thread's first call makes a context on GPU 0
  gpu::check(cudaEventSynchronize(marks_[mark % marks_.size()].get()), "finish what was queued");
}

std::size_t CudaDevice::stamp() noexcept {
  return capture_.active() ? capture_.stamp() : stamps_.add(stream_.get(), cudaEventRecordDefault);
}

void CudaDevice::read_stamps(std::vector<std::int64_t>& times_ns) {
  stamps_.check();
  await_uploads();
  anchor_.drop(stream_.get());
  stamps_.read(anchor_, times_ns);
  stamps_.clear();
}

}  // namespace ddbench::device::cuda
