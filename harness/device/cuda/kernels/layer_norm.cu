// Layer normalization: a block of threads takes a row, or one row after another.
#include <algorithm>
#include <cmath>

#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/cuda/kernels/number.cuh"
#include "harness/device/cuda/kernels/packs.cuh"

namespace ddbench::device::cuda {
namespace {

// Packs of a row that a thread holds in the forward pass: up to 2,048 columns, or up to 8,192.
constexpr int kFewPacks = 1;
constexpr int kMostPacks = 4;
// Backward: threads of a block, and the most columns of a row that one thread holds in registers. Rows of up to 4,096
// columns fit; those of GPT-2 and BERT take a quarter or half of that.
constexpr int kBackwardThreads = 512;
constexpr int kMostOwn = 16;
// Two a multiprocessor of an H100, fixed, so that sums are reproducible.
constexpr std::int64_t kLayerNormBlocks = 264;

unsigned layer_norm_blocks(std::int64_t rows) {
  return static_cast<unsigned>(rows < kLayerNormBlocks ? rows : kLayerNormBlocks);
}

struct NormParameters {
  const float* scale;
  const float* shift;
  float epsilon;
};

template <typename T>
__global__ void layer_norm_row(const T* x, std::int64_t columns, NormParameters parameters, float* statistics, T* y) {
  const std::int64_t row = blockIdx.x;
  const T* const in = x + row * columns;
  float sum = 0;
  for (std::int64_t i = threadIdx.x; i < columns; i += blockDim.x) sum += load(in, i);
  const float mean = block_sum(sum) / static_cast<float>(columns);
  float squares = 0;
  for (std::int64_t i = threadIdx.x; i < columns; i += blockDim.x) {
    const float distance = load(in, i) - mean;
    squares += distance * distance;
  }
  const float inverse = 1.0F / sqrtf(block_sum(squares) / static_cast<float>(columns) + parameters.epsilon);
  for (std::int64_t i = threadIdx.x; i < columns; i += blockDim.x) {
    store(y + row * columns, i, (load(in, i) - mean) * inverse * parameters.scale[i] + parameters.shift[i]);
  }
  if (threadIdx.x == 0) {
    statistics[2 * row] = mean;
    statistics[2 * row + 1] = inverse;
  }
}

/// x += added; `values` become x, as it is rounded.
template <typename T>
__device__ void add_rounded(const T* added, std::int64_t first, T* x, float (&values)[kPack]) {
  add_pack(added, first, values);
  Pack<T> sums;
  for (int i = 0; i < kPack; ++i) {
    store(sums.values, i, values[i]);
    values[i] = load(sums.values, i);
  }
  copy_pack(static_cast<const T*>(sums.values), x + first);
}

/// As layer_norm_row(), of rows that are whole packs: each is read once, 16 bytes at a time. x += added before, unless
/// that is null.
template <typename T, int kPacks>
__global__ void layer_norm_kept_row(const T* added, T* x, std::int64_t columns, NormParameters parameters,
                                    float* statistics, T* y) {
  const std::int64_t row = blockIdx.x;
  float kept[kPacks][kPack];
  float sum = 0;
  DDBENCH_UNROLL
  for (int k = 0; k < kPacks; ++k) {
    const std::int64_t first = first_of_pack(k);
    if (first >= columns) break;
    load_pack(static_cast<const T*>(x) + row * columns, first, kept[k]);
    if (added != nullptr) add_rounded(added + row * columns, first, x + row * columns, kept[k]);
    for (int i = 0; i < kPack; ++i) sum += kept[k][i];
  }
  const float mean = block_sum(sum) / static_cast<float>(columns);
  float squares = 0;
  DDBENCH_UNROLL
  for (int k = 0; k < kPacks; ++k) {
    const std::int64_t first = first_of_pack(k);
    if (first >= columns) break;
    for (int i = 0; i < kPack; ++i) squares += (kept[k][i] - mean) * (kept[k][i] - mean);
  }
  const float inverse = 1.0F / sqrtf(block_sum(squares) / static_cast<float>(columns) + parameters.epsilon);
  DDBENCH_UNROLL
  for (int k = 0; k < kPacks; ++k) {
    const std::int64_t first = first_of_pack(k);
    if (first >= columns) break;
    float scale[kPack];
    float shift[kPack];
    load_pack(parameters.scale, first, scale);
    load_pack(parameters.shift, first, shift);
    for (int i = 0; i < kPack; ++i) kept[k][i] = (kept[k][i] - mean) * inverse * scale[i] + shift[i];
    store_pack(y + row * columns, first, kept[k]);
  }
  if (threadIdx.x == 0) {
    statistics[2 * row] = mean;
    statistics[2 * row + 1] = inverse;
  }
}

template <typename T>
__global__ void layer_norm_input_row(const T* x, std::int64_t columns, const float* scale,
                                     const float* statistics, const T* dy, bool accumulate, T* dx) {
  const std::int64_t row = blockIdx.x;
  const std::int64_t first = row * columns;
  const float mean = statistics[2 * row];
  const float inverse = statistics[2 * row + 1];
  float sum = 0;
  float product = 0;
  for (std::int64_t i = threadIdx.x; i < columns; i += blockDim.x) {
    const float gradient = load(dy, first + i) * scale[i];
    sum += gradient;
    product += gradient * (load(x, first + i) - mean) * inverse;
  }
  const float mean_gradient = block_sum(sum) / static_cast<float>(columns);
  const float mean_product = block_sum(product) / static_cast<float>(columns);
  for (std::int64_t i = threadIdx.x; i < columns; i += blockDim.x) {
    const float normal = (load(x, first + i) - mean) * inverse;
    const float value = inverse * (load(dy, first + i) * scale[i] - mean_gradient - normal * mean_product);
    store(dx, first + i, accumulate ? value + load(dx, first + i) : value);
  }
}

/// What the blockDim.x threads of a row have, added up, for all of them. All threads of the block.
__device__ void sum_of_row(float (&values)[2]) {
  __shared__ float shared[2][kBackwardThreads / 32];
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
  const unsigned warps = blockDim.x / 32;
  for (float& value : values) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xFFFF'FFFFU, value, offset);
  }
  __syncthreads();  // of the use before
  if (thread % 32 == 0) {
    for (int k = 0; k < 2; ++k) shared[k][thread / 32] = values[k];
  }
  __syncthreads();
  for (int k = 0; k < 2; ++k) {
    values[k] = 0;
    for (unsigned warp = 0; warp < warps; ++warp) values[k] += shared[k][threadIdx.y * warps + warp];
  }
}

/// Input and parameters at once: each row of x and dy is read once. A block takes blockDim.y rows at a time, so that enough
/// of them are on their way from memory. A thread keeps kPieces * kWidth of the columns in registers, and its sums over the
/// rows until the end.
template <typename T, int kWidth, int kPieces>
__global__ void __launch_bounds__(kBackwardThreads)
    layer_norm_backward_rows(const T* x, std::int64_t rows, std::int64_t columns, const float* scale,
                             const float* statistics, const T* dy, bool accumulate, T* dx, float* partials) {
  float scale_sums[kPieces][kWidth] = {};
  float shift_sums[kPieces][kWidth] = {};
  const std::int64_t step = gridDim.x;
  for (std::int64_t of_block = blockIdx.x; of_block < rows; of_block += step * blockDim.y) {
    const std::int64_t row = of_block + step * threadIdx.y;
    float inverse = 0;
    float normal[kPieces][kWidth];
    float gradient[kPieces][kWidth];
    float sums[2] = {};
    if (row < rows) {
      const float mean = statistics[2 * row];
      inverse = statistics[2 * row + 1];
      DDBENCH_UNROLL
      for (int k = 0; k < kPieces; ++k) {
        const std::int64_t first = first_of_pack<kWidth>(k);
        if (first >= columns) break;
        float gain[kWidth];
        load_pack(x + row * columns, first, normal[k]);
        load_pack(dy + row * columns, first, gradient[k]);
        load_pack(scale, first, gain);
        DDBENCH_UNROLL
        for (int i = 0; i < kWidth; ++i) {
          normal[k][i] = (normal[k][i] - mean) * inverse;
          scale_sums[k][i] += gradient[k][i] * normal[k][i];
          shift_sums[k][i] += gradient[k][i];
          gradient[k][i] *= gain[i];
          sums[0] += gradient[k][i];
          sums[1] += gradient[k][i] * normal[k][i];
        }
      }
    }
    sum_of_row(sums);
    if (row >= rows) continue;
    const float mean_gradient = sums[0] / static_cast<float>(columns);
    const float mean_product = sums[1] / static_cast<float>(columns);
    DDBENCH_UNROLL
    for (int k = 0; k < kPieces; ++k) {
      const std::int64_t first = first_of_pack<kWidth>(k);
      if (first >= columns) break;
      DDBENCH_UNROLL
      for (int i = 0; i < kWidth; ++i) {
        gradient[k][i] = inverse * (gradient[k][i] - mean_gradient - normal[k][i] * mean_product);
      }
      if (accumulate) add_pack(static_cast<const T*>(dx) + row * columns, first, gradient[k]);
      store_pack(dx + row * columns, first, gradient[k]);
    }
  }
  // The rows that a block takes at a time, one after another: the order of additions is fixed.
  __shared__ float totals[2][kPieces * kWidth * kThreads];
  for (unsigned turn = 0; turn < blockDim.y; ++turn) {
    if (turn == threadIdx.y) {
      DDBENCH_UNROLL
      for (int k = 0; k < kPieces; ++k) {
        const std::int64_t first = first_of_pack<kWidth>(k);
        if (first >= columns) break;
        DDBENCH_UNROLL
        for (int i = 0; i < kWidth; ++i) {
          totals[0][first + i] = shift_sums[k][i] + (turn > 0 ? totals[0][first + i] : 0.0F);
          totals[1][first + i] = scale_sums[k][i] + (turn > 0 ? totals[1][first + i] : 0.0F);
        }
      }
    }
    __syncthreads();
  }
  for (std::int64_t i = threadIdx.y * blockDim.x + threadIdx.x; i < columns; i += blockDim.x * blockDim.y) {
    partials[blockIdx.x * columns + i] = totals[0][i];
    partials[(step + blockIdx.x) * columns + i] = totals[1][i];
  }
}

/// The gradient of the shift and, where blockIdx.y is 1, of the scale: 32 columns a block, whose 8 warps share the partial
/// sums. One thread a column would wait for them one after another.
constexpr int kTotalWarps = 8;
__global__ void layer_norm_totals(const float* partials, std::int64_t count, std::int64_t columns, bool accumulate,
                                  float* dshift, float* dscale) {
  __shared__ double shared[kTotalWarps][32];
  const std::int64_t column = blockIdx.x * std::int64_t{32} + threadIdx.x;
  double total = 0;
  if (column < columns) {
    for (std::int64_t i = threadIdx.y; i < count; i += kTotalWarps) {
      total += static_cast<double>(partials[(blockIdx.y * count + i) * columns + column]);
    }
  }
  shared[threadIdx.y][threadIdx.x] = total;
  __syncthreads();
  if (threadIdx.y != 0 || column >= columns) return;
  for (int warp = 1; warp < kTotalWarps; ++warp) total += shared[warp][threadIdx.x];
  float* const out = (blockIdx.y == 0 ? dshift : dscale) + column;
  *out = static_cast<float>(total) + (accumulate ? *out : 0.0F);
}

}  // namespace

std::int64_t layer_norm_scratch(std::int64_t rows, std::int64_t columns) {
  return 2 * static_cast<std::int64_t>(layer_norm_blocks(rows)) * columns;
}

void layer_norm_forward(cudaStream_t stream, const Tensor& added, const Tensor& x, const Tensor& scale,
                        const Tensor& shift, float epsilon, const Tensor& statistics, const Tensor& y) {
  with_type(x.type, [&](auto type) {
    using T = decltype(type);
    const NormParameters parameters{elements_of<float>(scale), elements_of<float>(shift), epsilon};
    const std::int64_t packs = x.columns / kPack;
    const bool are_whole = are_rows_of_packs(x.columns, elements_of<T>(added), elements_of<T>(x), elements_of<T>(y)) &&
                           are_packs(parameters.scale, parameters.shift);
    if (are_whole && packs <= kMostPacks * kThreads) {
      const auto kernel = packs <= kFewPacks * kThreads ? layer_norm_kept_row<T, kFewPacks> : layer_norm_kept_row<T, kMostPacks>;
      launch(stream, blocks_of(x.rows), threads_for(packs), kernel, elements_of<const T>(added), elements_of<T>(x), x.columns,
             parameters, elements_of<float>(statistics), elements_of<T>(y));
      return;
    }
    if (added.data != nullptr) add(stream, added, x);
    launch(stream, blocks_of(x.rows), threads_for(x.columns), layer_norm_row<T>, elements_of<const T>(x),
           x.columns, parameters, elements_of<float>(statistics), elements_of<T>(y));
  });
}

bool layer_norm_backward(cudaStream_t stream, const Tensor& x, const Tensor& scale, const Tensor& statistics,
                         const Tensor& dy, GradientWrite write, const Tensor& dscale, const Tensor& dshift,
                         GradientWrite dx_write, const Tensor& dx, float* partials) {
  if (x.columns > kMostOwn * kThreads) return false;
  const std::int64_t blocks = layer_norm_blocks(x.rows);
  const std::int64_t rows_of_block = (x.rows + kLayerNormBlocks - 1) / kLayerNormBlocks;
  with_type(x.type, [&](auto type) {
    using T = decltype(type);
    const T* const in = elements_of<const T>(x);
    const T* const slopes = elements_of<const T>(dy);
    const auto* const gain = elements_of<const float>(scale);
    T* const out = elements_of<T>(dx);
    with_width(are_rows_of_packs(x.columns, in, slopes, gain, out), [&](auto width) {
      constexpr int kWidth = decltype(width)::value;
      constexpr int kFewPieces = kWidth == kPack ? 1 : 4;
      const auto kernel = x.columns <= kFewPieces * kWidth * kThreads
                              ? layer_norm_backward_rows<T, kWidth, kFewPieces>
                              : layer_norm_backward_rows<T, kWidth, kMostOwn / kWidth>;
      const int threads = threads_for(x.columns, kWidth);
      const std::int64_t at_once = std::min<std::int64_t>(kBackwardThreads / threads, rows_of_block);
      launch(stream, layer_norm_blocks(x.rows), dim3(static_cast<unsigned>(threads), static_cast<unsigned>(at_once)),
             kernel, in, x.rows, x.columns, gain, elements_of<const float>(statistics), slopes,
             dx_write == GradientWrite::kAccumulate, out, partials);
    });
  });
  launch(stream, dim3(static_cast<unsigned>((x.columns + 31) / 32), 2), dim3(32, kTotalWarps), layer_norm_totals, partials,
         blocks, x.columns, write == GradientWrite::kAccumulate, elements_of<float>(dshift), elements_of<float>(dscale));
  return true;
}

void layer_norm_input(cudaStream_t stream, const Tensor& x, const Tensor& scale, const Tensor& statistics,
                      const Tensor& dy, GradientWrite write, const Tensor& dx) {
  with_type(x.type, [&](auto type) {
    using T = decltype(type);
    launch(stream, blocks_of(x.rows), threads_for(x.columns), layer_norm_input_row<T>,
           elements_of<const T>(x), x.columns, elements_of<float>(scale), elements_of<float>(statistics),
           elements_of<const T>(dy), write == GradientWrite::kAccumulate, elements_of<T>(dx));
  });
}

}  // namespace ddbench::device::cuda
