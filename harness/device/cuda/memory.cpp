#include <fmt/format.h>

#include "core/error.h"
#include "harness/device/cuda/cuda_device.h"
#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/expect.h"

namespace ddbench::device::cuda {
namespace {

/// Memory that operators gave back stays in the pool: asking the driver again would synchronize.
void keep_pool(int device) {
  cudaMemPool_t pool = nullptr;
  gpu::check(cudaDeviceGetDefaultMemPool(&pool, device), "find its memory pool");
  std::uint64_t all = ~std::uint64_t{0};
  gpu::check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), "keep memory in its pool");
}

int prepare(int rank) {
  const int device = gpu::select(rank);
  keep_pool(device);
  return device;
}

}  // namespace

CudaDevice::CudaDevice(const DeviceOptions& options)
    : options_(options),
      device_(prepare(options.rank)),
      stream_(gpu::make_stream()),
      scratch_(stream_.get(), ledger()),
      products_(stream_.get(), options.tf32),
      cudnn_(make_cudnn(stream_.get())),
      convolutions_(stream_.get(), cudnn_.get(), options.tf32, scratch_, ledger()),
      fused_attention_(cudnn_.get(), scratch_),
      anchor_(gpu::make_event(true)),
      upload_stream_(gpu::make_stream()),
      queued_(gpu::make_event(false)),
      uploaded_(gpu::make_event(false)) {
  for (gpu::Event& event : marks_) {
    cudaEvent_t made = nullptr;
    // A thread that waits for it sleeps: the core may be needed by the one that queues work.
    gpu::check(cudaEventCreateWithFlags(&made, cudaEventDisableTiming | cudaEventBlockingSync),
               "make an event");
    event.reset(made);
  }
  adam_step_ = allocate(sizeof(AdamStep));
  squares_ = allocate((1 + kSquareBlocks) * std::int64_t{sizeof(double)});
}

CudaDevice::~CudaDevice() {
  // Queued work may still use the memory that is freed now.
  cudaStreamSynchronize(upload_stream_.get());
  cudaStreamSynchronize(stream_.get());
}

std::string CudaDevice::description() const {
  return fmt::format("cuda, {}, cuBLASLt {}, cuDNN {}{}{}", gpu::description(device_),
                     MatrixProducts::version(), cudnnGetVersion(),
                     FusedAttention::is_available() ? " with fused attention" : "",
                     options_.tf32 ? ", TF32" : "");
}

Buffer CudaDevice::allocate_memory(std::int64_t bytes) {
  void* memory = nullptr;
  const auto size = static_cast<std::size_t>(bytes > 0 ? bytes : 1);
  const cudaError_t status =
      bytes < 0 ? cudaErrorMemoryAllocation : cudaMallocAsync(&memory, size, stream_.get());
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw Error(
        ErrorCode::kEnvironment,
        fmt::format("the GPU has no memory for {} bytes: lower the batch, the workload's size or the number "
                    "of ranks on this GPU",
                    bytes),
        status, "allocate");
  }
  gpu::check(status, "allocate memory");
  Buffer buffer(memory, bytes, [](void* data) noexcept { cudaFree(data); });
  gpu::check(cudaMemsetAsync(memory, 0, size, stream_.get()), "clear memory");
  synchronize();  // other streams may use it from now on
  return buffer;
}

Buffer CudaDevice::allocate_pinned(std::int64_t bytes) {
  void* memory = nullptr;
  const auto size = static_cast<std::size_t>(bytes > 0 ? bytes : 1);
  gpu::check(bytes < 0 ? cudaErrorMemoryAllocation : cudaMallocHost(&memory, size), "pin memory of the host");
  std::fill_n(static_cast<std::byte*>(memory), size, std::byte{0});
  return {memory, bytes, [](void* data) noexcept { cudaFreeHost(data); }};
}

std::int64_t CudaDevice::reserved_peak_bytes() const noexcept {
  cudaMemPool_t pool = nullptr;
  std::uint64_t bytes = 0;
  const bool known = cudaDeviceGetDefaultMemPool(&pool, device_) == cudaSuccess &&
                     cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemHigh, &bytes) == cudaSuccess;
  return known ? static_cast<std::int64_t>(bytes) : 0;
}

void CudaDevice::download(const Tensor& source, void* destination) {
  expect("download", {{"source", source, source.rows, source.columns, source.type}});
  gpu::check(cudaMemcpyAsync(destination, source.data, static_cast<std::size_t>(source.bytes()),
                             cudaMemcpyDeviceToHost, stream_.get()),
             "copy to the host");
  synchronize();
}

void CudaDevice::fill(const Tensor& destination, float value) {
  expect("fill", {{"destination", destination, destination.rows, destination.columns}});
  cuda::fill(stream_.get(), destination, value);
}

void CudaDevice::copy(const Tensor& source, const Tensor& destination) {
  expect("copy", {{"source", source, source.rows, source.columns, source.type},
                  {"destination", destination, source.rows, source.columns, source.type}});
  gpu::check(cudaMemcpyAsync(destination.data, source.data, static_cast<std::size_t>(source.bytes()),
                             cudaMemcpyDeviceToDevice, stream_.get()),
             "copy");
}

void expect_activations(const char* operation, const Tensor& tensor) {
  expect_that(operation, tensor.type != DataType::kInt32, "activations must be float32, float16 or bfloat16");
}

}  // namespace ddbench::device::cuda
