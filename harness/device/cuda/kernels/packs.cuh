#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "harness/device/cuda/kernels/number.cuh"

/// One pass over memory in pieces of eight elements: a thread moves 16 bytes at once, and float32 twice. What
/// moves a word at a time reaches about two thirds of a GPU's memory bandwidth.
namespace ddbench::device::cuda {

constexpr int kPack = 8;
constexpr std::uintptr_t kPackAlignment = 16;

template <typename T>
struct alignas(kPackAlignment) Pack {
  T values[kPack];
};

#ifdef __CUDA_ARCH__
/// As loads and stores of 16 bytes.
template <typename T>
__device__ inline void copy_pack(const T* from, T* to) {
  DDBENCH_UNROLL
  for (int i = 0; i < static_cast<int>(sizeof(Pack<T>) / sizeof(uint4)); ++i) {
    reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
  }
}
#else
template <typename T>
void copy_pack(const T* from, T* to) {
  std::memcpy(static_cast<void*>(to), from, sizeof(Pack<T>));
}
#endif

/// Of a row that a block of threads shares: where pack k of this thread begins. For a kWidth other than kPack see
/// with_width().
template <int kWidth = kPack>
__device__ inline std::int64_t first_of_pack(int k) {
  return (threadIdx.x + static_cast<std::int64_t>(k) * blockDim.x) * kWidth;
}

/// Eight elements from `first` on, which is a multiple of eight; the memory is aligned to 16 bytes. Or one element.
template <typename T, int kWidth>
__device__ inline void load_pack(const T* from, std::int64_t first, float (&to)[kWidth]) {
  if constexpr (kWidth == 1) {
    to[0] = load(from, first);
  } else {
    static_assert(kWidth == kPack);
    Pack<T> pack;
    copy_pack(from + first, pack.values);
    DDBENCH_UNROLL
    for (int i = 0; i < kPack; ++i) to[i] = load(pack.values, i);
  }
}

template <typename T, int kWidth>
__device__ inline void store_pack(T* to, std::int64_t first, const float (&from)[kWidth]) {
  if constexpr (kWidth == 1) {
    store(to, first, from[0]);
  } else {
    static_assert(kWidth == kPack);
    Pack<T> pack;
    DDBENCH_UNROLL
    for (int i = 0; i < kPack; ++i) store(pack.values, i, from[i]);
    copy_pack(static_cast<const T*>(pack.values), to + first);
  }
}

/// `values` += what is at `first`.
template <typename T, int kWidth>
__device__ inline void add_pack(const T* from, std::int64_t first, float (&values)[kWidth]) {
  float addends[kWidth];
  load_pack(from, first, addends);
  DDBENCH_UNROLL
  for (int i = 0; i < kWidth; ++i) values[i] += addends[i];
}

/// out[i] = f(in[i]...), elements as float. `packs`: how many whole packs there are; the rest one by one.
template <typename F, typename Out, typename... In>
__global__ void map_kernel(std::int64_t packs, std::int64_t n, F f, Out* out, const In*... in) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t thread = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  constexpr int kInputs = sizeof...(In);
  for (std::int64_t pack = thread; pack < packs; pack += stride) {
    float values[kInputs][kPack];
    int input = 0;
    (load_pack(in, pack * kPack, values[input++]), ...);
    float results[kPack];
    DDBENCH_UNROLL
    for (int i = 0; i < kPack; ++i) {
      if constexpr (kInputs == 1) results[i] = f(values[0][i]);
      if constexpr (kInputs == 2) results[i] = f(values[0][i], values[1][i]);
    }
    store_pack(out, pack * kPack, results);
  }
  for (std::int64_t i = packs * kPack + thread; i < n; i += stride) store(out, i, f(load(in, i)...));
}

template <typename... T>
bool are_packs(const T*... memory) {
  return ((reinterpret_cast<std::uintptr_t>(memory) % kPackAlignment == 0) && ...);
}

/// Whether rows of `columns` elements, one after another, are whole packs.
template <typename... T>
bool are_rows_of_packs(std::int64_t columns, const T*... memory) {
  return columns % kPack == 0 && are_packs(memory...);
}

/// For kernels that do the same with rows of whole packs and, element by element, with other rows: calls action with
/// how many elements a thread moves at once, kPack or 1, as a constant.
template <typename Action>
void with_width(bool whole_packs, const Action& action) {
  if (whole_packs) return action(std::integral_constant<int, kPack>{});
  action(std::integral_constant<int, 1>{});
}
/// Of a block that takes a row.
inline int threads_for(std::int64_t columns, int width) {
  return threads_for((columns + width - 1) / width);
}

/// An input may be the output.
template <typename F, typename Out, typename... In>
void map(cudaStream_t stream, std::int64_t n, F f, Out* out, const In*... in) {
  const std::int64_t packs = are_packs(out, in...) ? n / kPack : 0;
  const std::int64_t pieces = packs > 0 ? packs : n;
  launch(stream, blocks_for(pieces), kThreads, map_kernel<F, Out, In...>, packs, n, f, out, in...);
}

}  // namespace ddbench::device::cuda
