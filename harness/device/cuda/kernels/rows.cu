// What looks at each row of a matrix as a whole: a block of threads takes one.
#include <cmath>

#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/cuda/kernels/number.cuh"
#include "harness/device/cuda/kernels/packs.cuh"

namespace ddbench::device::cuda {
namespace {

template <typename T, int kWidth>
__global__ void gather_row(const T* table, std::int64_t rows, std::int64_t columns, const std::int32_t* indices,
                           bool accumulate, T* y) {
  const std::int64_t index = indices[blockIdx.x];
  const bool valid = index >= 0 && index < rows;
  T* const out = y + blockIdx.x * columns;
  for (int k = 0; first_of_pack<kWidth>(k) < columns; ++k) {
    const std::int64_t first = first_of_pack<kWidth>(k);
    float values[kWidth];
    for (float& value : values) value = NAN;
    if (valid) load_pack(table + index * columns, first, values);
    if (accumulate) add_pack(static_cast<const T*>(out), first, values);
    store_pack(out, first, values);
  }
}

/// Row blockIdx.x of the table, kThreads * kWidth of its columns. The rows of dy with its index are listed in their
/// order, kThreads of them at a time, and added.
template <typename T, int kWidth>
__global__ void scatter_row(const T* dy, const std::int32_t* indices, std::int64_t rows, std::int64_t columns,
                            bool accumulate, float* dtable) {
  __shared__ std::int64_t matches[kThreads];
  __shared__ int warp_matches[kThreads / 32];
  const std::int64_t column = (blockIdx.y * static_cast<std::int64_t>(kThreads) + threadIdx.x) * kWidth;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const unsigned below = (1U << (threadIdx.x % 32)) - 1U;
  bool found = false;
  float sums[kWidth] = {};
  for (std::int64_t first = 0; first < rows; first += kThreads) {
    const std::int64_t i = first + threadIdx.x;
    const bool match = i < rows && indices[i] == static_cast<std::int32_t>(blockIdx.x);
    if (__syncthreads_or(match ? 1 : 0) == 0) continue;
    found = true;
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
    for (int k = 0; k < all; ++k) add_pack(dy, matches[k] * columns + column, sums);
  }
  // Most rows of a vocabulary have no token in a batch: what they had stays as it is.
  if (column >= columns || (accumulate && !found)) return;
  float* const out = dtable + blockIdx.x * columns;
  if (accumulate) add_pack(static_cast<const float*>(out), column, sums);
  store_pack(out, column, sums);
}

/// Keys that a query sees.
__device__ std::int64_t visible_keys(std::int64_t row, std::int64_t queries, std::int64_t keys, bool causal) {
  return causal ? row % queries + 1 : keys;
}

template <typename T, int kWidth>
__global__ void softmax_row(const float* scores, std::int64_t queries, std::int64_t keys, float scale,
                            bool causal, T* probabilities, float* statistics) {
  const std::int64_t row = blockIdx.x;
  const float* const in = scores + row * keys;
  const std::int64_t visible = visible_keys(row, queries, keys, causal);
  Exponentials own;
  for (int k = 0; first_of_pack<kWidth>(k) < visible; ++k) {
    const std::int64_t first = first_of_pack<kWidth>(k);
    float values[kWidth];
    load_pack(in, first, values);
    DDBENCH_UNROLL
    for (int i = 0; i < kWidth; ++i) {
      if (first + i < visible) own.add(values[i] * scale);
    }
  }
  const Exponentials all = combine_block(own);
  for (int k = 0; first_of_pack<kWidth>(k) < keys; ++k) {
    const std::int64_t first = first_of_pack<kWidth>(k);
    float values[kWidth] = {};
    if (first < visible) load_pack(in, first, values);
    DDBENCH_UNROLL
    for (int i = 0; i < kWidth; ++i) {
      values[i] = first + i < visible ? expf(values[i] * scale - all.most) / all.sum : 0.0F;
    }
    store_pack(probabilities + row * keys, first, values);
  }
  if (threadIdx.x == 0) statistics[row] = all.most + logf(all.sum);
}

template <typename T, int kWidth>
__global__ void softmax_backward_row(const float* scores, const float* statistics, const float* sums,
                                     std::int64_t queries, std::int64_t keys, float scale, bool causal,
                                     const float* dprobabilities, T* probabilities, T* dscores) {
  const std::int64_t row = blockIdx.x;
  const std::int64_t visible = visible_keys(row, queries, keys, causal);
  const float log_sum = statistics[row];
  const float sum = sums[row];
  for (int k = 0; first_of_pack<kWidth>(k) < keys; ++k) {
    const std::int64_t first = first_of_pack<kWidth>(k);
    float values[kWidth] = {};
    float slopes[kWidth] = {};
    if (first < visible) {
      load_pack(scores + row * keys, first, values);
      load_pack(dprobabilities + row * keys, first, slopes);
    }
    DDBENCH_UNROLL
    for (int i = 0; i < kWidth; ++i) {
      values[i] = first + i < visible ? expf(values[i] * scale - log_sum) : 0.0F;
      slopes[i] = values[i] * (slopes[i] - sum) * scale;
    }
    store_pack(probabilities + row * keys, first, values);
    store_pack(dscores + row * keys, first, slopes);
  }
}

}  // namespace

void gather_rows(cudaStream_t stream, const Tensor& table, const Tensor& indices, GradientWrite write,
                 const Tensor& y) {
  with_type(table.type, [&](auto type) {
    using T = decltype(type);
    const T* const from = elements_of<const T>(table);
    T* const to = elements_of<T>(y);
    with_width(are_rows_of_packs(y.columns, from, to), [&](auto width) {
      launch(stream, blocks_of(y.rows), threads_for(y.columns, width), gather_row<T, width()>, from, table.rows,
             table.columns, elements_of<const std::int32_t>(indices), write == GradientWrite::kAccumulate, to);
    });
  });
}

void scatter_add_rows(cudaStream_t stream, const Tensor& dy, const Tensor& indices, GradientWrite write,
                      const Tensor& dtable) {
  with_type(dy.type, [&](auto type) {
    using T = decltype(type);
    const T* const from = elements_of<const T>(dy);
    float* const to = elements_of<float>(dtable);
    with_width(are_rows_of_packs(dy.columns, from, to), [&](auto width) {
      const int columns = kThreads * width();  // of a block
      const dim3 blocks(blocks_of(dtable.rows), blocks_of((dy.columns + columns - 1) / columns));
      launch(stream, blocks, kThreads, scatter_row<T, width()>, from, elements_of<const std::int32_t>(indices),
             dy.rows, dy.columns, write == GradientWrite::kAccumulate, to);
    });
  });
}

void attention_softmax(cudaStream_t stream, const Tensor& scores, std::int64_t queries, float scale,
                       bool causal, const Tensor& probabilities, float* statistics) {
  with_type(probabilities.type, [&](auto type) {
    using T = decltype(type);
    const auto* const from = elements_of<const float>(scores);
    T* const to = elements_of<T>(probabilities);
    with_width(are_rows_of_packs(scores.columns, from, to), [&](auto width) {
      launch(stream, blocks_of(scores.rows), threads_for(scores.columns, width), softmax_row<T, width()>, from,
             queries, scores.columns, scale, causal, to, statistics);
    });
  });
}

void attention_softmax_backward(cudaStream_t stream, const Tensor& scores, const float* statistics,
                                const float* sums, std::int64_t queries, float scale, bool causal,
                                const Tensor& dprobabilities, const Tensor& probabilities,
                                const Tensor& dscores) {
  with_type(probabilities.type, [&](auto type) {
    using T = decltype(type);
    const auto* const from = elements_of<const float>(scores);
    const auto* const slopes = elements_of<const float>(dprobabilities);
    T* const to = elements_of<T>(probabilities);
    T* const dto = elements_of<T>(dscores);
    with_width(are_rows_of_packs(scores.columns, from, slopes, to, dto), [&](auto width) {
      launch(stream, blocks_of(scores.rows), threads_for(scores.columns, width), softmax_backward_row<T, width()>,
             from, statistics, sums, queries, scores.columns, scale, causal, slopes, to, dto);
    });
  });
}

}  // namespace ddbench::device::cuda
