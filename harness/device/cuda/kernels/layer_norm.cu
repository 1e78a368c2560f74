// Layer normalization: a block of threads takes a row, or one row after another.
#include <cmath>

#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/cuda/kernels/number.cuh"
#include "harness/device/cuda/kernels/packs.cuh"

namespace ddbench::device::cuda {
namespace {

// Packs of a row that a thread holds in the forward pass: up to 2,048 columns, or up to 8,192.
constexpr int kFewPacks = 1;
constexpr int kMostPacks = 4;
// Columns that a thread holds in registers: up to 1,024 of a row, as in GPT-2 and BERT, or up to 4,096.
constexpr int kFewOwn = 4;
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
__device__ void add_pack(const T* added, std::int64_t first, T* x, float (&values)[kPack]) {
  float addends[kPack];
  load_pack(added, first, addends);
  Pack<T> sums;
  for (int i = 0; i < kPack; ++i) {
    store(sums.values, i, values[i] + addends[i]);
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
    if (added != nullptr) add_pack(added + row * columns, first, x + row * columns, kept[k]);
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

/// Input and parameters at once: each row of x and dy is read once. A block takes every gridDim.x-th row; a
/// thread keeps kOwn of the columns in registers, and its sums over the rows until the end.
template <typename T, int kOwn>
__global__ void layer_norm_backward_rows(const T* x, std::int64_t rows, std::int64_t columns, const float* scale,
                                         const float* statistics, const T* dy, bool accumulate, T* dx, float* partials) {
  float scale_sums[kOwn] = {};
  float shift_sums[kOwn] = {};
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const std::int64_t first = row * columns;
    const float mean = statistics[2 * row];
    const float inverse = statistics[2 * row + 1];
    float normal[kOwn];
    float gradient[kOwn];
    float sum = 0;
    float product = 0;
    DDBENCH_UNROLL
    for (int k = 0; k < kOwn; ++k) {
      const std::int64_t i = threadIdx.x + static_cast<std::int64_t>(k) * blockDim.x;
      if (i >= columns) break;
      normal[k] = (load(x, first + i) - mean) * inverse;
      const float value = load(dy, first + i);
      scale_sums[k] += value * normal[k];
      shift_sums[k] += value;
      gradient[k] = value * scale[i];
      sum += gradient[k];
      product += gradient[k] * normal[k];
    }
    const float mean_gradient = block_sum(sum) / static_cast<float>(columns);
    const float mean_product = block_sum(product) / static_cast<float>(columns);
    DDBENCH_UNROLL
    for (int k = 0; k < kOwn; ++k) {
      const std::int64_t i = threadIdx.x + static_cast<std::int64_t>(k) * blockDim.x;
      if (i >= columns) break;
      const float value = inverse * (gradient[k] - mean_gradient - normal[k] * mean_product);
      store(dx, first + i, accumulate ? value + load(dx, first + i) : value);
    }
  }
  DDBENCH_UNROLL
  for (int k = 0; k < kOwn; ++k) {
    const std::int64_t i = threadIdx.x + static_cast<std::int64_t>(k) * blockDim.x;
    if (i >= columns) break;
    partials[blockIdx.x * columns + i] = shift_sums[k];
    partials[(gridDim.x + blockIdx.x) * columns + i] = scale_sums[k];
  }
}

template <int kOwn>
void layer_norm_rows(cudaStream_t stream, const Tensor& x, const Tensor& scale, const Tensor& statistics,
                     const Tensor& dy, GradientWrite write, const Tensor& dx, float* partials) {
  with_type(x.type, [&](auto type) {
    using T = decltype(type);
    launch(stream, layer_norm_blocks(x.rows), threads_for(x.columns), layer_norm_backward_rows<T, kOwn>,
           elements_of<const T>(x), x.rows, x.columns, elements_of<float>(scale), elements_of<float>(statistics),
           elements_of<const T>(dy), write == GradientWrite::kAccumulate, elements_of<T>(dx), partials);
  });
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
    const bool are_whole = x.columns % kPack == 0 && are_packs(elements_of<T>(added), elements_of<T>(x), elements_of<T>(y)) &&
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
  const auto run = x.columns <= kFewOwn * kThreads ? layer_norm_rows<kFewOwn> : layer_norm_rows<kMostOwn>;
  run(stream, x, scale, statistics, dy, dx_write, dx, partials);
  const std::int64_t blocks = layer_norm_blocks(x.rows);
  const std::int64_t columns = x.columns;
  const bool accumulate = write == GradientWrite::kAccumulate;
  float* const shift_gradient = elements_of<float>(dshift);
  float* const scale_gradient = elements_of<float>(dscale);
  each(stream, columns, [=] __device__(std::int64_t column) {
    double totals[2] = {};
    for (int k = 0; k < 2; ++k) {
      for (std::int64_t block = 0; block < blocks; ++block) {
        totals[k] += static_cast<double>(partials[(k * blocks + block) * columns + column]);
      }
    }
    shift_gradient[column] = static_cast<float>(totals[0]) + (accumulate ? shift_gradient[column] : 0.0F);
    scale_gradient[column] = static_cast<float>(totals[1]) + (accumulate ? scale_gradient[column] : 0.0F);
  });
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
