// Copies, sums and factors on a stream of their own.
#include "harness/device/cuda/cuda_device.h"
#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/expect.h"

namespace ddbench::device::cuda {
namespace {

class SideStream final : public SideQueue {
 public:
  explicit SideStream(int device) : device_(device), stream_(gpu::make_stream()) {}
  ~SideStream() override { cudaStreamSynchronize(stream_.get()); }  // the memory it works on may go next

  void copy(const Tensor& source, const Tensor& destination) override {
    expect_alike("copy", {{"source", source}, {"destination", destination}});
    gpu::check(cudaMemcpyAsync(destination.data, source.data, static_cast<std::size_t>(source.bytes()),
                               cudaMemcpyDeviceToDevice, stream()),
               "copy a gradient");
  }
  void add(const Tensor& source, const Tensor& destination) override {
    expect_alike("add", {{"source", source}, {"destination", destination}});
    cuda::add(stream(), source, destination);
  }
  void scale(const Tensor& values, float factor) override {
    expect("scale", {{"values", values, values.rows, values.columns}});
    cuda::scale(stream(), values, factor);
  }
  void synchronize() override { gpu::check(cudaStreamSynchronize(stream()), "finish what was queued beside it"); }

 private:
  /// Of the calling thread too: its first call would otherwise make a context on GPU 0.
  cudaStream_t stream() {
    gpu::check(cudaSetDevice(device_), "be selected");
    return stream_.get();
  }

  const int device_;
  const gpu::Stream stream_;
};

}  // namespace

std::unique_ptr<SideQueue> CudaDevice::side_queue() {
  return std::make_unique<SideStream>(device_);
}

}  // namespace ddbench::device::cuda
