#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "harness/device/tensor.h"
#include "harness/device/gpu/gpu.h"

#ifdef __CUDACC__
#define DDBENCH_UNROLL _Pragma("unroll")
#define DDBENCH_UNROLL_BY_2 _Pragma("unroll 2")
#else  // compiled for the host
#define DDBENCH_UNROLL
#define DDBENCH_UNROLL_BY_2
#endif

namespace ddbench::device::cuda {

using Bfloat16 = __nv_bfloat16;

__device__ inline float load(const float* values, std::int64_t i) {
  return values[i];
}
__device__ inline float load(const Bfloat16* values, std::int64_t i) {
  return __bfloat162float(values[i]);
}
__device__ inline float load(const __half* values, std::int64_t i) {
  return __half2float(values[i]);
}
__device__ inline void store(float* values, std::int64_t i, float value) {
  values[i] = value;
}
__device__ inline void store(Bfloat16* values, std::int64_t i, float value) {
  values[i] = __float2bfloat16_rn(value);
}
__device__ inline void store(__half* values, std::int64_t i, float value) {
  values[i] = __float2half_rn(value);
}

template <typename T>
T* elements_of(const Tensor& tensor) {
  return static_cast<T*>(tensor.data);
}

/// Calls action(T{}) with the type of activations; that it is one was checked (expect_activations).
template <typename Action>
void with_type(DataType type, const Action& action) {
  switch (type) {
    case DataType::kBfloat16: return action(Bfloat16{});
    case DataType::kFloat16: return action(__half{});
    default: return action(float{});
  }
}

constexpr int kThreads = 256;

#ifdef __CUDACC__
/// What launch_with_memory() gives a block; on the host, device_code.h has it.
__device__ inline void* dynamic_shared_memory() {
  extern __shared__ uint4 memory[];
  return memory;
}
#endif

/// The most bytes that a block of threads can ask for; 1 KiB is left to what kernels declare themselves.
inline std::int64_t most_block_memory() {
  static const int most = [] {
    int device = 0;
    int bytes = 0;
    gpu::check(cudaGetDevice(&device), "find the GPU in use");
    gpu::check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
               "read the size of a GPU's shared memory");
    return bytes - 1024;
  }();
  return most;
}

/// Starts kernel(arguments...) on the stream. Each block has `block_bytes` of memory that its threads share, up to
/// most_block_memory(), aligned to 16.
template <typename... Parameters, typename... Arguments>
void launch_with_memory(cudaStream_t stream, dim3 blocks, dim3 threads, std::int64_t block_bytes,
                        void (*kernel)(Parameters...), Arguments... arguments) {
  constexpr std::int64_t kFree = 47 * 1024;  // 48 KiB need not be asked for, of which kernels declare some
  if (block_bytes > kFree) {
    gpu::check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(block_bytes)),
               "give a kernel more shared memory");
  }
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = blocks;
  configuration.blockDim = threads;
  configuration.dynamicSmemBytes = static_cast<std::size_t>(block_bytes);
  configuration.stream = stream;
  gpu::check(cudaLaunchKernelEx(&configuration, kernel, arguments...), "start a kernel");
}

/// Starts kernel(arguments...) on the stream.
template <typename... Parameters, typename... Arguments>
void launch(cudaStream_t stream, dim3 blocks, dim3 threads, void (*kernel)(Parameters...),
            Arguments... arguments) {
  launch_with_memory(stream, blocks, threads, 0, kernel, arguments...);
}

/// f(i) for 0 <= i < n, in any order.
template <typename F>
__global__ void each_kernel(std::int64_t n, F f) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < n;
       i += stride) {
    f(i);
  }
}

/// For `n` pieces of work, one a thread.
inline unsigned blocks_for(std::int64_t n) {
  constexpr std::int64_t kMostBlocks = 1 << 20;
  const std::int64_t blocks = (n + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
}

/// A block a row.
inline unsigned blocks_of(std::int64_t rows) {
  return static_cast<unsigned>(rows);
}
/// Of a block: whole warps, as many as have something to do.
inline int threads_for(std::int64_t columns) {
  const std::int64_t warps = (columns + 31) / 32;
  return static_cast<int>(warps * 32 < kThreads ? warps * 32 : kThreads);
}

template <typename F>
void each(cudaStream_t stream, std::int64_t n, F f) {
  launch(stream, blocks_for(n), kThreads, each_kernel<F>, n, f);
}

/// The column of element i. Divisions of 32 bits take a quarter of the time of those of 64.
__device__ inline std::uint32_t column_of(std::int64_t i, std::int64_t columns) {
  if ((i >> 32) == 0) return static_cast<std::uint32_t>(i) % static_cast<std::uint32_t>(columns);
  return static_cast<std::uint32_t>(i % columns);
}

/// What all threads of a block have, combined, for all of them; of up to 1024 threads, all of whole warps.
template <typename Combine>
__device__ float combine_block(float value, Combine combine, float neutral) {
  __shared__ float shared[33];
  for (int offset = 16; offset > 0; offset /= 2) {
    value = combine(value, __shfl_xor_sync(0xFFFF'FFFFU, value, offset));
  }
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  __syncthreads();  // of the use before
  if (lane == 0) shared[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = lane < static_cast<int>(blockDim.x) / 32 ? shared[lane] : neutral;
    for (int offset = 16; offset > 0; offset /= 2) {
      value = combine(value, __shfl_xor_sync(0xFFFF'FFFFU, value, offset));
    }
    if (lane == 0) shared[32] = value;
  }
  __syncthreads();
  return shared[32];
}
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Largest {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
__device__ inline float block_sum(float value) {
  return combine_block(value, Sum{}, 0.0F);
}
__device__ inline float block_largest(float value) {
  return combine_block(value, Largest{}, -INFINITY);
}

/// The largest of some numbers, and the sum of e^(number - largest), found in one pass (Milakov, Gimelshein 2018).
struct Exponentials {
  float most = -INFINITY;
  float sum = 0;

  __device__ void add(float value) {
    if (value > most) {
      sum = sum * expf(most - value) + 1.0F;
      most = value;
    } else if (value != -INFINITY) {
      sum += expf(value - most);
    }
  }
};
/// Of the numbers of all threads of a block, for all of them.
__device__ inline Exponentials combine_block(const Exponentials& own) {
  const float most = block_largest(own.most);
  return {most, block_sum(own.sum != 0.0F ? own.sum * expf(own.most - most) : 0.0F)};
}

/// The sum of what the kThreads threads of a block have, for thread 0; once a kernel.
__device__ inline double sum_of_threads(double value) {
  __shared__ double shared[kThreads];
  shared[threadIdx.x] = value;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half) shared[threadIdx.x] += shared[threadIdx.x + half];
  }
  return shared[0];
}

}  // namespace ddbench::device::cuda
