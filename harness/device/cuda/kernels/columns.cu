// Sums over the rows of a matrix: blocks of some columns and rows leave partial sums, which one thread a column adds up in
// double, in order. A thread takes packs of columns where rows are whole packs, and reads nothing that it writes: stores
// between loads would keep it waiting for each row.
#include <algorithm>
#include <cmath>

#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/cuda/kernels/packs.cuh"

namespace ddbench::device::cuda {
namespace {

constexpr int kTilePacks = 32;  // at most
constexpr std::int64_t kFullGpu =
    512;  // enough blocks for any GPU; fixed, so that sums are reproducible
constexpr int kMostSums = 2;
constexpr int kMostFactors = 3;

/// How blocks of kThreads threads share a matrix: each takes `wide` packs of columns, `deep` rows at a time.
struct Tiles {
  std::int64_t wide, deep;
  std::int64_t across;  ///< blocks for all columns
  std::int64_t splits;  ///< blocks that share the rows of a tile's columns
};

Tiles tiles_of(std::int64_t rows, std::int64_t columns, int width) {
  const std::int64_t packs = (columns + width - 1) / width;
  Tiles tiles{};
  tiles.wide = kTilePacks;
  while (tiles.wide / 2 >= packs) tiles.wide /= 2;
  tiles.deep = kThreads / tiles.wide;
  tiles.across = (packs + tiles.wide - 1) / tiles.wide;
  const std::int64_t wanted = (kFullGpu + tiles.across - 1) / tiles.across;
  const std::int64_t useful = (rows + 4 * tiles.deep - 1) / (4 * tiles.deep);
  tiles.splits = std::min(wanted, useful);
  return tiles;
}

template <int kSums, int kWidth, typename F>
__global__ void partial_sums(std::int64_t rows, std::int64_t columns, std::int64_t block_rows,
                             float* partials, F f) {
  __shared__ float shared[kSums][kThreads * kWidth];
  const int tile_columns = static_cast<int>(blockDim.x) * kWidth;
  const std::int64_t tile = blockIdx.x * static_cast<std::int64_t>(tile_columns);
  const std::int64_t first = tile + threadIdx.x * kWidth;
  const std::int64_t begin = blockIdx.y * block_rows;
  const std::int64_t end = begin + block_rows < rows ? begin + block_rows : rows;
  float sums[kSums][kWidth] = {};
  if (first < columns) {
    DDBENCH_UNROLL_BY_2
    for (std::int64_t row = begin + threadIdx.y; row < end; row += blockDim.y) f(row, first, sums);
  }
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  for (int k = 0; k < kSums; ++k) {
    for (int i = 0; i < kWidth; ++i) shared[k][thread * kWidth + i] = sums[k][i];
  }
  __syncthreads();
  if (thread >= tile_columns || tile + thread >= columns) return;
  for (int k = 0; k < kSums; ++k) {
    float total = 0;
    for (int row = 0; row < static_cast<int>(blockDim.y); ++row) total += shared[k][row * tile_columns + thread];
    partials[(static_cast<std::int64_t>(k) * gridDim.y + blockIdx.y) * columns + tile + thread] = total;
  }
}

/// The totals of 32 columns by a block of 32 x kTotalRows threads: each row of threads adds up some of the partial sums, in
/// order, and the first adds up what the rows have.
constexpr int kTotalColumns = 32;
constexpr int kTotalRows = 16;

template <int kSums, typename G>
__global__ void total_sums(std::int64_t columns, std::int64_t splits, const float* partials, G g) {
  __shared__ double shared[kSums][kTotalRows][kTotalColumns];
  const std::int64_t column = blockIdx.x * static_cast<std::int64_t>(kTotalColumns) + threadIdx.x;
  for (int k = 0; k < kSums; ++k) {
    double total = 0;
    if (column < columns) {
      for (std::int64_t split = threadIdx.y; split < splits; split += kTotalRows) {
        total += static_cast<double>(partials[(k * splits + split) * columns + column]);
      }
    }
    shared[k][threadIdx.y][threadIdx.x] = total;
  }
  __syncthreads();
  if (threadIdx.y != 0 || column >= columns) return;
  double totals[kSums];
  for (int k = 0; k < kSums; ++k) {
    totals[k] = 0;
    for (int row = 0; row < kTotalRows; ++row) totals[k] += shared[k][row][threadIdx.x];
  }
  g(column, totals);
}

/// f(row, first, sums) adds a row's kWidth columns from `first` on to kSums sums of each; g(column, totals) receives the totals.
template <int kSums, int kWidth, typename F, typename G>
void sum_columns(cudaStream_t stream, std::int64_t rows, std::int64_t columns, float* scratch, F f, G g) {
  static_assert(kTilePacks * kWidth <= kThreads, "a thread for each column of a tile");
  const Tiles tiles = tiles_of(rows, columns, kWidth);
  const std::int64_t splits = tiles.splits;
  const dim3 blocks(static_cast<unsigned>(tiles.across), static_cast<unsigned>(splits));
  const dim3 threads(static_cast<unsigned>(tiles.wide), static_cast<unsigned>(tiles.deep));
  launch(stream, blocks, threads, partial_sums<kSums, kWidth, F>, rows, columns, (rows + splits - 1) / splits, scratch, f);
  launch(stream, dim3(static_cast<unsigned>((columns + kTotalColumns - 1) / kTotalColumns)), dim3(kTotalColumns, kTotalRows),
         total_sums<kSums, G>, columns, splits, scratch, g);
}

/// Where factors of columns lie, behind the partial sums: each a row of `columns`, whole packs where columns are.
template <int kWidth>
float* factors_of(float* scratch, std::int64_t rows, std::int64_t columns) {
  return scratch + kMostSums * tiles_of(rows, columns, kWidth).splits * columns;
}

template <typename T, int kWidth>
void sum_rows(cudaStream_t stream, const Tensor& x, GradientWrite write, const Tensor& sums, float* scratch) {
  const T* const in = elements_of<T>(x);
  float* const out = elements_of<float>(sums);
  const std::int64_t leading = x.leading();
  const bool accumulate = write == GradientWrite::kAccumulate;
  sum_columns<1, kWidth>(
      stream, x.rows, x.columns, scratch,
      [=] __device__(std::int64_t row, std::int64_t first, float(&sum)[1][kWidth]) {
        add_pack(in, row * leading + first, sum[0]);
      },
      [=] __device__(std::int64_t column, const double* total) {
        const float sum = static_cast<float>(total[0]);
        out[column] = accumulate ? out[column] + sum : sum;
      });
}

template <typename T, int kWidth>
void normalize(cudaStream_t stream, const Tensor& x, const Tensor& scale, const Tensor& shift,
               const Tensor& residual, Activation activation, float epsilon,
               const BatchStatistics& statistics, const Tensor& y, float* scratch) {
  const T* const in = elements_of<T>(x);
  const std::int64_t rows = x.rows;
  const std::int64_t columns = x.columns;
  const float* const gain = elements_of<float>(scale);
  const float* const bias = elements_of<float>(shift);
  float* const mean = elements_of<float>(statistics.mean);
  float* const inverse = elements_of<float>(statistics.inverse_deviation);
  float* const factors = factors_of<kWidth>(scratch, rows, columns);  // y = a x + b, a column
  // Distances from the first row: squares of the values themselves could cancel.
  sum_columns<2, kWidth>(
      stream, rows, columns, scratch,
      [=] __device__(std::int64_t row, std::int64_t first, float(&sums)[2][kWidth]) {
        float values[kWidth], origin[kWidth];
        load_pack(in, row * columns + first, values);
        load_pack(in, first, origin);
        DDBENCH_UNROLL
        for (int i = 0; i < kWidth; ++i) {
          const float distance = values[i] - origin[i];
          sums[0][i] += distance;
          sums[1][i] += distance * distance;
        }
      },
      [=] __device__(std::int64_t column, const double* totals) {
        const double distance = totals[0] / static_cast<double>(rows);
        const double variance = fmax(totals[1] / static_cast<double>(rows) - distance * distance, 0.0);
        mean[column] = static_cast<float>(static_cast<double>(load(in, column)) + distance);
        inverse[column] = static_cast<float>(1.0 / sqrt(variance + static_cast<double>(epsilon)));
        factors[column] = gain[column] * inverse[column];
        factors[columns + column] = bias[column] - mean[column] * factors[column];
      });
  const T* const added = elements_of<T>(residual);
  T* const out = elements_of<T>(y);
  const float floor = activation == Activation::kRelu ? 0.0F : -INFINITY;
  each(stream, x.elements() / kWidth, [=] __device__(std::int64_t pack) {
    const std::int64_t at = pack * kWidth;
    const std::int64_t first = column_of(at, columns);
    float values[kWidth];
    load_pack(in, at, values);
    float residuals[kWidth] = {};
    if (added != nullptr) load_pack(added, at, residuals);
    float a[kWidth], b[kWidth];
    load_pack(factors, first, a);
    load_pack(factors, columns + first, b);
    DDBENCH_UNROLL
    for (int i = 0; i < kWidth; ++i) {
      const float value = values[i] * a[i] + b[i] + residuals[i];
      values[i] = value <= floor ? floor : value;  // NaN stays NaN
    }
    store_pack(out, at, values);
  });
}

/// 0 where the activation cut the gradient off; whether that changed it.
template <int kWidth, typename T>
__device__ inline bool cut_off(const T* cut, std::int64_t at, float (&gradient)[kWidth]) {
  if (cut == nullptr) return false;
  float values[kWidth];
  load_pack(cut, at, values);
  bool changed = false;
  DDBENCH_UNROLL
  for (int i = 0; i < kWidth; ++i) {
    if (!(values[i] <= 0.0F)) continue;
    gradient[i] = 0.0F;
    changed = true;
  }
  return changed;
}

template <typename T, int kWidth>
void normalize_backward(cudaStream_t stream, const Tensor& x, const Tensor& y, const Tensor& scale,
                        Activation activation, const BatchStatistics& statistics, const Tensor& dy,
                        GradientWrite write, const Tensor& dscale, const Tensor& dshift, const Tensor& dx,
                        float* scratch) {
  const T* const in = elements_of<T>(x);
  const T* const cut = activation == Activation::kRelu ? elements_of<T>(y) : nullptr;
  T* const gradient = elements_of<T>(dy);
  const std::int64_t columns = x.columns;
  const auto count = static_cast<double>(x.rows);
  const float* const gain = elements_of<float>(scale);
  const float* const mean = elements_of<float>(statistics.mean);
  const float* const inverse = elements_of<float>(statistics.inverse_deviation);
  float* const scale_gradient = elements_of<float>(dscale);
  float* const shift_gradient = elements_of<float>(dshift);
  const bool accumulate = write == GradientWrite::kAccumulate;
  float* const factors = factors_of<kWidth>(scratch, x.rows, columns);  // dx = a dy + b x + c, a column
  sum_columns<2, kWidth>(
      stream, x.rows, columns, scratch,
      [=] __device__(std::int64_t row, std::int64_t first, float(&sums)[2][kWidth]) {
        const std::int64_t at = row * columns + first;
        float values[kWidth], inputs[kWidth];
        load_pack(gradient, at, values);
        load_pack(in, at, inputs);
        cut_off(cut, at, values);
        DDBENCH_UNROLL
        for (int i = 0; i < kWidth; ++i) {
          sums[0][i] += values[i];
          sums[1][i] += values[i] * (inputs[i] - mean[first + i]);
        }
      },
      [=] __device__(std::int64_t column, const double* totals) {
        const double deviation = static_cast<double>(inverse[column]);
        const double scale_sum = totals[1] * deviation;
        const double factor = static_cast<double>(gain[column]) * deviation;
        const double slope = -factor * scale_sum / count * deviation;
        factors[column] = static_cast<float>(factor);
        factors[columns + column] = static_cast<float>(slope);
        factors[2 * columns + column] =
            static_cast<float>(-factor * totals[0] / count - slope * static_cast<double>(mean[column]));
        shift_gradient[column] = static_cast<float>(totals[0]) + (accumulate ? shift_gradient[column] : 0.0F);
        scale_gradient[column] = static_cast<float>(scale_sum) + (accumulate ? scale_gradient[column] : 0.0F);
      });
  T* const out = elements_of<T>(dx);
  each(stream, x.elements() / kWidth, [=] __device__(std::int64_t pack) {
    const std::int64_t at = pack * kWidth;
    const std::int64_t first = column_of(at, columns);
    float values[kWidth], results[kWidth];
    load_pack(gradient, at, values);
    load_pack(in, at, results);
    const bool changed = cut_off(cut, at, values);
    float a[kWidth], b[kWidth], c[kWidth];
    load_pack(factors, first, a);
    load_pack(factors, columns + first, b);
    load_pack(factors, 2 * columns + first, c);
    DDBENCH_UNROLL
    for (int i = 0; i < kWidth; ++i) results[i] = values[i] * a[i] + (results[i] * b[i] + c[i]);
    store_pack(out, at, results);
    if (changed) store_pack(gradient, at, values);
  });
}

template <typename T, int kWidth>
void layer_norm_sums(cudaStream_t stream, const Tensor& x, const Tensor& statistics, const Tensor& dy,
                     GradientWrite write, const Tensor& dscale, const Tensor& dshift, float* scratch) {
  const T* const in = elements_of<T>(x);
  const T* const gradient = elements_of<T>(dy);
  const float* const moments = elements_of<float>(statistics);
  float* const scale_gradient = elements_of<float>(dscale);
  float* const shift_gradient = elements_of<float>(dshift);
  const std::int64_t columns = x.columns;
  const bool accumulate = write == GradientWrite::kAccumulate;
  sum_columns<2, kWidth>(
      stream, x.rows, columns, scratch,
      [=] __device__(std::int64_t row, std::int64_t first, float(&sums)[2][kWidth]) {
        const std::int64_t at = row * columns + first;
        float values[kWidth], inputs[kWidth];
        load_pack(gradient, at, values);
        load_pack(in, at, inputs);
        DDBENCH_UNROLL
        for (int i = 0; i < kWidth; ++i) {
          sums[0][i] += values[i];
          sums[1][i] += values[i] * (inputs[i] - moments[2 * row]) * moments[2 * row + 1];
        }
      },
      [=] __device__(std::int64_t column, const double* totals) {
        shift_gradient[column] = static_cast<float>(totals[0]) + (accumulate ? shift_gradient[column] : 0.0F);
        scale_gradient[column] = static_cast<float>(totals[1]) + (accumulate ? scale_gradient[column] : 0.0F);
      });
}

/// action(type, width) as constants; `memory` are rows of x's columns, or of its stride where it has one.
template <typename Action, typename... Memory>
void with_type_and_width(const Tensor& x, const Action& action, const Memory*... memory) {
  with_type(x.type, [&](auto type) {
    const bool whole = x.columns % kPack == 0 && are_rows_of_packs(x.leading(), x.data, memory...);
    with_width(whole, [&](auto width) { action(type, width); });
  });
}

}  // namespace

std::int64_t column_scratch(std::int64_t rows, std::int64_t columns) {
  const std::int64_t splits = std::max(tiles_of(rows, columns, 1).splits, tiles_of(rows, columns, kPack).splits);
  return (kMostSums * splits + kMostFactors) * columns;
}

void column_sums(cudaStream_t stream, const Tensor& x, GradientWrite write, const Tensor& sums,
                 float* scratch) {
  with_type_and_width(x, [&](auto type, auto width) {
    sum_rows<decltype(type), decltype(width)::value>(stream, x, write, sums, scratch);
  });
}

void batch_norm_forward(cudaStream_t stream, const Tensor& x, const Tensor& scale, const Tensor& shift,
                        const Tensor& residual, Activation activation, float epsilon,
                        const BatchStatistics& statistics, const Tensor& y, float* scratch) {
  with_type_and_width(
      x,
      [&](auto type, auto width) {
        normalize<decltype(type), decltype(width)::value>(stream, x, scale, shift, residual, activation, epsilon, statistics, y,
                                                          scratch);
      },
      residual.data, y.data);
}

void batch_norm_backward(cudaStream_t stream, const Tensor& x, const Tensor& y, const Tensor& scale,
                         Activation activation, const BatchStatistics& statistics, const Tensor& dy,
                         GradientWrite write, const Tensor& dscale, const Tensor& dshift, const Tensor& dx,
                         float* scratch) {
  with_type_and_width(
      x,
      [&](auto type, auto width) {
        normalize_backward<decltype(type), decltype(width)::value>(stream, x, y, scale, activation, statistics, dy, write, dscale,
                                                                   dshift, dx, scratch);
      },
      y.data, dy.data, dx.data);
}

void layer_norm_parameters(cudaStream_t stream, const Tensor& x, const Tensor& statistics, const Tensor& dy,
                           GradientWrite write, const Tensor& dscale, const Tensor& dshift, float* scratch) {
  with_type_and_width(
      x,
      [&](auto type, auto width) {
        layer_norm_sums<decltype(type), decltype(width)::value>(stream, x, statistics, dy, write, dscale, dshift, scratch);
      },
      dy.data);
}

}  // namespace ddbench::device::cuda
