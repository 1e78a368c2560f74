// Sums over the rows of a matrix: blocks of 32 columns and some rows leave partial sums, which one thread a
// column adds up in double, in order.
#include <cmath>

#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/cuda/kernels/number.cuh"

namespace ddbench::device::cuda {
namespace {

constexpr int kTileColumns = 32;
constexpr int kTileRows = 8;
constexpr std::int64_t kFullGpu =
    512;  // enough blocks for any GPU; fixed, so that sums are reproducible
constexpr int kMostSums = 2;
constexpr int kMostFactors = 3;

std::int64_t tiles_of(std::int64_t columns) {
  return (columns + kTileColumns - 1) / kTileColumns;
}

/// Blocks that share the rows of a tile of columns.
std::int64_t splits_of(std::int64_t rows, std::int64_t columns) {
  const std::int64_t wanted = (kFullGpu + tiles_of(columns) - 1) / tiles_of(columns);
  const std::int64_t useful = (rows + 4 * kTileRows - 1) / (4 * kTileRows);
  return wanted < useful ? wanted : useful;
}

template <int kSums, typename F>
__global__ void partial_sums(std::int64_t rows, std::int64_t columns, std::int64_t block_rows,
                             float* partials, F f) {
  __shared__ float shared[kSums][kTileRows][kTileColumns];
  const std::int64_t column = blockIdx.x * static_cast<std::int64_t>(kTileColumns) + threadIdx.x;
  const std::int64_t begin = blockIdx.y * block_rows;
  const std::int64_t end = begin + block_rows < rows ? begin + block_rows : rows;
  float sums[kSums] = {};
  if (column < columns) {
    for (std::int64_t row = begin + threadIdx.y; row < end; row += kTileRows) f(row, column, sums);
  }
  for (int k = 0; k < kSums; ++k) shared[k][threadIdx.y][threadIdx.x] = sums[k];
  __syncthreads();
  if (threadIdx.y != 0 || column >= columns) return;
  for (int k = 0; k < kSums; ++k) {
    float total = 0;
    for (int row = 0; row < kTileRows; ++row) total += shared[k][row][threadIdx.x];
    partials[(static_cast<std::int64_t>(k) * gridDim.y + blockIdx.y) * columns + column] = total;
  }
}

/// f(row, column, sums) adds to kSums sums; g(column, totals) receives the totals.
template <int kSums, typename F, typename G>
void sum_columns(cudaStream_t stream, std::int64_t rows, std::int64_t columns, float* scratch, F f, G g) {
  const std::int64_t splits = splits_of(rows, columns);
  const dim3 blocks(static_cast<unsigned>(tiles_of(columns)), static_cast<unsigned>(splits));
  launch(stream, blocks, dim3(kTileColumns, kTileRows), partial_sums<kSums, F>, rows, columns,
         (rows + splits - 1) / splits, scratch, f);
  each(stream, columns, [=] __device__(std::int64_t column) {
    double totals[kSums];
    for (int k = 0; k < kSums; ++k) {
      totals[k] = 0;
      for (std::int64_t split = 0; split < splits; ++split) {
        totals[k] += static_cast<double>(scratch[(k * splits + split) * columns + column]);
      }
    }
    g(column, totals);
  });
}

template <typename T>
void sum_rows(cudaStream_t stream, const Tensor& x, GradientWrite write, const Tensor& sums, float* scratch) {
  const T* const in = elements_of<T>(x);
  float* const out = elements_of<float>(sums);
  const std::int64_t columns = x.columns;
  const std::int64_t leading = x.leading();
  const float keep = write == GradientWrite::kAccumulate ? 1.0F : 0.0F;
  sum_columns<1>(
      stream, x.rows, columns, scratch,
      [=] __device__(std::int64_t row, std::int64_t column, float* sum) {
        sum[0] += load(in, row * leading + column);
      },
      [=] __device__(std::int64_t column, const double* total) {
        const float sum = static_cast<float>(total[0]);
        out[column] = keep != 0.0F ? out[column] + sum : sum;
      });
}

template <typename T>
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
  // Distances from the first row: squares of the values themselves could cancel.
  sum_columns<2>(
      stream, rows, columns, scratch,
      [=] __device__(std::int64_t row, std::int64_t column, float* sums) {
        const float distance = load(in, row * columns + column) - load(in, column);
        sums[0] += distance;
        sums[1] += distance * distance;
      },
      [=] __device__(std::int64_t column, const double* totals) {
        const double distance = totals[0] / static_cast<double>(rows);
        const double variance = fmax(totals[1] / static_cast<double>(rows) - distance * distance, 0.0);
        mean[column] = static_cast<float>(static_cast<double>(load(in, column)) + distance);
        inverse[column] = static_cast<float>(1.0 / sqrt(variance + static_cast<double>(epsilon)));
      });
  const T* const added = elements_of<T>(residual);
  T* const out = elements_of<T>(y);
  const float floor = activation == Activation::kRelu ? 0.0F : -INFINITY;
  each(stream, x.elements(), [=] __device__(std::int64_t i) {
    const std::int64_t column = column_of(i, columns);
    const float factor = gain[column] * inverse[column];
    float value = load(in, i) * factor + (bias[column] - mean[column] * factor);
    if (added != nullptr) value += load(added, i);
    store(out, i, value > floor ? value : floor);
  });
}

template <typename T>
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
  float* const factors = scratch + kMostSums * splits_of(x.rows, columns) * columns;  // a, b, c a column
  sum_columns<2>(
      stream, x.rows, columns, scratch,
      [=] __device__(std::int64_t row, std::int64_t column, float* sums) {
        const std::int64_t i = row * columns + column;
        float value = load(gradient, i);
        if (cut != nullptr && !(load(cut, i) > 0.0F)) {
          value = 0.0F;
          store(gradient, i, value);
        }
        sums[0] += value;
        sums[1] += value * (load(in, i) - mean[column]);
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
  each(stream, x.elements(), [=] __device__(std::int64_t i) {
    const std::int64_t column = column_of(i, columns);
    store(out, i,
          load(gradient, i) * factors[column] +
              (load(in, i) * factors[columns + column] + factors[2 * columns + column]));
  });
}

template <typename T>
void layer_norm_sums(cudaStream_t stream, const Tensor& x, const Tensor& statistics, const Tensor& dy,
                     GradientWrite write, const Tensor& dscale, const Tensor& dshift, float* scratch) {
  const T* const in = elements_of<T>(x);
  const T* const gradient = elements_of<T>(dy);
  const float* const moments = elements_of<float>(statistics);
  float* const scale_gradient = elements_of<float>(dscale);
  float* const shift_gradient = elements_of<float>(dshift);
  const std::int64_t columns = x.columns;
  const bool accumulate = write == GradientWrite::kAccumulate;
  sum_columns<2>(
      stream, x.rows, columns, scratch,
      [=] __device__(std::int64_t row, std::int64_t column, float* sums) {
        const std::int64_t i = row * columns + column;
        const float value = load(gradient, i);
        sums[0] += value;
        sums[1] += value * (load(in, i) - moments[2 * row]) * moments[2 * row + 1];
      },
      [=] __device__(std::int64_t column, const double* totals) {
        shift_gradient[column] = static_cast<float>(totals[0]) + (accumulate ? shift_gradient[column] : 0.0F);
        scale_gradient[column] = static_cast<float>(totals[1]) + (accumulate ? scale_gradient[column] : 0.0F);
      });
}

}  // namespace

std::int64_t column_scratch(std::int64_t rows, std::int64_t columns) {
  return (kMostSums * splits_of(rows, columns) + kMostFactors) * columns;
}

void column_sums(cudaStream_t stream, const Tensor& x, GradientWrite write, const Tensor& sums,
                 float* scratch) {
  with_type(x.type, [&](auto type) { sum_rows<decltype(type)>(stream, x, write, sums, scratch); });
}

void batch_norm_forward(cudaStream_t stream, const Tensor& x, const Tensor& scale, const Tensor& shift,
                        const Tensor& residual, Activation activation, float epsilon,
                        const BatchStatistics& statistics, const Tensor& y, float* scratch) {
  with_type(x.type, [&](auto type) {
    normalize<decltype(type)>(stream, x, scale, shift, residual, activation, epsilon, statistics, y, scratch);
  });
}

void batch_norm_backward(cudaStream_t stream, const Tensor& x, const Tensor& y, const Tensor& scale,
                         Activation activation, const BatchStatistics& statistics, const Tensor& dy,
                         GradientWrite write, const Tensor& dscale, const Tensor& dshift, const Tensor& dx,
                         float* scratch) {
  with_type(x.type, [&](auto type) {
    normalize_backward<decltype(type)>(stream, x, y, scale, activation, statistics, dy, write, dscale, dshift,
                                       dx, scratch);
  });
}

void layer_norm_parameters(cudaStream_t stream, const Tensor& x, const Tensor& statistics, const Tensor& dy,
                           GradientWrite write, const Tensor& dscale, const Tensor& dshift, float* scratch) {
  with_type(x.type, [&](auto type) {
    layer_norm_sums<decltype(type)>(stream, x, statistics, dy, write, dscale, dshift, scratch);
  });
}

}  // namespace ddbench::device::cuda
