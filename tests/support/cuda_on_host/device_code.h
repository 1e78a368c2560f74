#pragma once

// Included before a .cu file that is compiled as C++ for the host: what nvcc knows of itself. Kernels are
// plain functions then, each of whose threads runs as a fiber (block.h).
#include <cuda_runtime_api.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

#include "block.h"
#include "stream.h"

#undef __shared__
#define __shared__ static  // of the one block that runs
#undef __launch_bounds__
#define __launch_bounds__(...)

inline int __syncthreads_or(int bit) {
  return ddbench::cuda_on_host::any_of_block(bit != 0) ? 1 : 0;
}
inline void __syncthreads() {
  __syncthreads_or(0);
}
inline unsigned __ballot_sync(unsigned, bool bit) {
  const std::uint32_t* const bits = ddbench::cuda_on_host::all_of_warp(bit ? 1 : 0);
  unsigned ballot = 0;
  for (unsigned lane = 0; lane < 32; ++lane) ballot |= bits[lane] << lane;
  return ballot;
}
inline float __shfl_xor_sync(unsigned, float value, int mask) {
  const unsigned lane = (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
  const std::uint32_t* const bits = ddbench::cuda_on_host::all_of_warp(std::bit_cast<std::uint32_t>(value));
  return std::bit_cast<float>(bits[lane ^ static_cast<unsigned>(mask)]);
}
inline void* dynamic_shared_memory() {  // number.cuh
  return ddbench::cuda_on_host::block_memory();
}
inline int __popc(unsigned bits) {
  return std::popcount(bits);
}

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* configuration, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  return ddbench::cuda_on_host::launch(
      *configuration, reinterpret_cast<const void*>(kernel),
      [kernel, kept = std::tuple<Parameters...>(std::forward<Arguments>(arguments)...)] { std::apply(kernel, kept); });
}
