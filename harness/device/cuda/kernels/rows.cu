// What looks at each row of a matrix as a whole: a block of threads takes one.
#include <cmath>

#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/cuda/kernels/number.cuh"

namespace ddbench::device::cuda {
namespace {

template <typename T>
__global__ void gather_row(const T* table, std::int64_t rows, std::int64_t columns,
                           const std::int32_t* indices, bool accumulate, T* y) {
  const std::int64_t index = indices[blockIdx.x];
  const bool valid = index >= 0 && index < rows;
  const std::int64_t first = blockIdx.x * columns;
  for (std::int64_t i = threadIdx.x; i < columns; i += blockDim.x) {
    const float value = valid ? load(table, index * columns + i) : NAN;
    store(y, first + i, accumulate ? value + load(y, first + i) : value);
  }
}

/// Row blockIdx.x of the table, kThreads of its columns. The rows of dy with its index are listed in their
/// order, kThreads of them at a time, and added.
template <typename T>
__global__ void scatter_row(const T* dy, const std::int32_t* indices, std::int64_t rows, std::int64_t columns,
                            bool accumulate, float* dtable) {
  __shared__ std::int64_t matches[kThreads];
  __shared__ int warp_matches[kThreads / 32];
  const std::int64_t column = blockIdx.y * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const unsigned below = (1U << (threadIdx.x % 32)) - 1U;
  float sum = 0;
  for (std::int64_t first = 0; first < rows; first += kThreads) {
    const std::int64_t i = first + threadIdx.x;
    const bool match = i < rows && indices[i] == static_cast<std::int32_t>(blockIdx.x);
    if (__syncthreads_or(match ? 1 : 0) == 0) continue;
    const unsigned of_warp = __ballot_sync(0xFFFF'FFFFU, match);
    if (threadIdx.x % 32 == 0) warp_matches[warp] = __popc(of_warp);
    __syncthreads();
    int before = 0;
    int all = 0;
    for (int other = 0; other < kThreads / 32; ++other) {
      if (other < warp) before += warp_matches[other];
      all += warp_matches[other];
    }
    if (match) matches[before + __popc(of_warp & below)] = i;
    __syncthreads();
    if (column >= columns) continue;
    for (int k = 0; k < all; ++k) sum += load(dy, matches[k] * columns + column);
  }
  if (column >= columns) return;
  float* const out = dtable + blockIdx.x * columns + column;
  *out = accumulate ? *out + sum : sum;
}

/// Keys that a query sees.
__device__ std::int64_t visible_keys(std::int64_t row, std::int64_t queries, std::int64_t keys, bool causal) {
  return causal ? row % queries + 1 : keys;
}

template <typename T>
__global__ void softmax_row(const float* scores, std::int64_t queries, std::int64_t keys, float scale,
                            bool causal, T* probabilities, float* statistics) {
  const std::int64_t row = blockIdx.x;
  const float* const in = scores + row * keys;
  const std::int64_t visible = visible_keys(row, queries, keys, causal);
  float most = -INFINITY;
  for (std::int64_t i = threadIdx.x; i < visible; i += blockDim.x) most = fmaxf(most, in[i] * scale);
  const float largest = block_largest(most);
  float part = 0;
  for (std::int64_t i = threadIdx.x; i < visible; i += blockDim.x) part += expf(in[i] * scale - largest);
  const float sum = block_sum(part);
  for (std::int64_t i = threadIdx.x; i < keys; i += blockDim.x) {
    store(probabilities, row * keys + i, i < visible ? expf(in[i] * scale - largest) / sum : 0.0F);
  }
  if (threadIdx.x == 0) statistics[row] = largest + logf(sum);
}

template <typename T>
__global__ void softmax_backward_row(const float* scores, const float* statistics, const float* sums,
                                     std::int64_t queries, std::int64_t keys, float scale, bool causal,
                                     const float* dprobabilities, T* probabilities, T* dscores) {
  const std::int64_t row = blockIdx.x;
  const std::int64_t visible = visible_keys(row, queries, keys, causal);
  for (std::int64_t i = threadIdx.x; i < keys; i += blockDim.x) {
    const std::int64_t at = row * keys + i;
    const float probability = i < visible ? expf(scores[at] * scale - statistics[row]) : 0.0F;
    const float gradient = probability * (dprobabilities[at] - sums[row]) * scale;
    store(probabilities, at, probability);
    store(dscores, at, gradient);
  }
}

}  // namespace

void gather_rows(cudaStream_t stream, const Tensor& table, const Tensor& indices, GradientWrite write,
                 const Tensor& y) {
  with_type(table.type, [&](auto type) {
    using T = decltype(type);
    launch(stream, blocks_of(y.rows), threads_for(y.columns), gather_row<T>, elements_of<const T>(table),
           table.rows, table.columns, elements_of<const std::int32_t>(indices),
           write == GradientWrite::kAccumulate, elements_of<T>(y));
  });
}

void scatter_add_rows(cudaStream_t stream, const Tensor& dy, const Tensor& indices, GradientWrite write,
                      const Tensor& dtable) {
  const dim3 blocks(blocks_of(dtable.rows), blocks_of((dy.columns + kThreads - 1) / kThreads));
  with_type(dy.type, [&](auto type) {
    using T = decltype(type);
    launch(stream, blocks, kThreads, scatter_row<T>, elements_of<const T>(dy),
           elements_of<const std::int32_t>(indices), dy.rows, dy.columns, write == GradientWrite::kAccumulate,
           elements_of<float>(dtable));
  });
}

void attention_softmax(cudaStream_t stream, const Tensor& scores, std::int64_t queries, float scale,
                       bool causal, const Tensor& probabilities, float* statistics) {
  with_type(probabilities.type, [&](auto type) {
    using T = decltype(type);
    launch(stream, blocks_of(scores.rows), threads_for(scores.columns), softmax_row<T>,
           elements_of<const float>(scores), queries, scores.columns, scale, causal,
           elements_of<T>(probabilities), statistics);
  });
}

void attention_softmax_backward(cudaStream_t stream, const Tensor& scores, const float* statistics,
                                const float* sums, std::int64_t queries, float scale, bool causal,
                                const Tensor& dprobabilities, const Tensor& probabilities,
                                const Tensor& dscores) {
  with_type(probabilities.type, [&](auto type) {
    using T = decltype(type);
    launch(stream, blocks_of(scores.rows), threads_for(scores.columns), softmax_backward_row<T>,
           elements_of<const float>(scores), statistics, sums, queries, scores.columns, scale, causal,
           elements_of<const float>(dprobabilities), elements_of<T>(probabilities), elements_of<T>(dscores));
  });
}

}  // namespace ddbench::device::cuda
