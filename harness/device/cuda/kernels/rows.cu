// What looks at each row of a matrix as a whole: a block of threads takes one.
#include <cmath>

#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/cuda/kernels/number.cuh"

namespace ddbench::device::cuda {
namespace {

/// 1 / labels that count, or 0 where none does.
__global__ void share_of_labels(const std::int32_t* labels, std::int64_t rows, float* share) {
  float counted = 0;
  for (std::int64_t i = threadIdx.x; i < rows; i += blockDim.x) counted += labels[i] != kIgnoredLabel;
  const float total = block_sum(counted);
  if (threadIdx.x == 0) *share = total > 0.0F ? 1.0F / total : 0.0F;
}

/// dlogits may be logits.
template <typename T>
__global__ void cross_entropy_row(const T* logits, const std::int32_t* labels, std::int64_t classes,
                                  const float* share, float scale, float* losses, T* dlogits) {
  const std::int64_t row = blockIdx.x;
  const T* const in = logits + row * classes;
  T* const out = dlogits + row * classes;
  const std::int32_t label = labels[row];
  const bool valid = label >= 0 && label < classes;
  if (!valid) {
    for (std::int64_t i = threadIdx.x; i < classes; i += blockDim.x) store(out, i, 0.0F);
    if (threadIdx.x == 0) losses[row] = label == kIgnoredLabel ? 0.0F : NAN;
    return;
  }
  const float of_label = load(in, label);  // before any of `out` is written
  // Largest and sum in one pass: a thread's sum follows its own largest (Milakov, Gimelshein 2018).
  float most = -INFINITY;
  float part = 0;
  for (std::int64_t i = threadIdx.x; i < classes; i += blockDim.x) {
    const float value = load(in, i);
    if (value > most) {
      part = part * expf(most - value) + 1.0F;
      most = value;
    } else if (value != -INFINITY) {
      part += expf(value - most);
    }
  }
  const float largest = block_largest(most);
  const float sum = block_sum(part != 0.0F ? part * expf(most - largest) : 0.0F);
  const float scaled_share = *share * scale;
  const float factor = scaled_share / sum;
  for (std::int64_t i = threadIdx.x; i < classes; i += blockDim.x) {
    const float probability = factor * expf(load(in, i) - largest);
    store(out, i, i == label ? probability - scaled_share : probability);
  }
  if (threadIdx.x == 0) losses[row] = logf(sum) + (largest - of_label);
}

__global__ void mean_loss(const float* losses, std::int64_t rows, const float* share, float* loss) {
  double sum = 0;
  for (std::int64_t i = threadIdx.x; i < rows; i += kThreads) sum += static_cast<double>(losses[i]);
  const double total = sum_of_threads(sum);
  if (threadIdx.x == 0) *loss = static_cast<float>(total * static_cast<double>(*share));
}

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

void softmax_cross_entropy(cudaStream_t stream, const Tensor& logits, const Tensor& labels,
                           const Tensor& loss, float scale, const Tensor& dlogits, float* losses) {
  const auto* const label = elements_of<const std::int32_t>(labels);
  float* const share = losses + logits.rows;
  launch(stream, 1, 1024, share_of_labels, label, logits.rows, share);
  with_type(logits.type, [&](auto type) {
    using T = decltype(type);
    launch(stream, blocks_of(logits.rows), threads_for(logits.columns), cross_entropy_row<T>,
           elements_of<const T>(logits), label, logits.columns, share, scale, losses,
           elements_of<T>(dlogits));
  });
  launch(stream, 1, kThreads, mean_loss, losses, logits.rows, share, elements_of<float>(loss));
}

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
