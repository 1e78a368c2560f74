#include <cmath>
#include <cstring>

#include "harness/device/cpu/cpu_device.h"
#include "harness/device/cpu/expect.h"
#include "harness/device/cpu/widest_vectors.h"

namespace ddbench::device::cpu {
namespace {

// Number of rows whose sum is kept in float before it is added to a double.
constexpr std::int64_t kBlockRows = 128;

/// Adds to sums[c] and squares[c] what `rows` rows of x - origin give. Four rows a turn: fewer turns through
/// the sums.
template <typename T>
[[gnu::always_inline]] inline void moments_loop(const T* __restrict x, std::int64_t rows,
                                                std::int64_t columns, const float* __restrict origin,
                                                float* __restrict sums, float* __restrict squares) {
  std::int64_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    const T* __restrict line = x + row * columns;
    for (std::int64_t c = 0; c < columns; ++c) {
      const float a = load(line, c) - origin[c];
      const float b = load(line, c + columns) - origin[c];
      const float d = load(line, c + 2 * columns) - origin[c];
      const float e = load(line, c + 3 * columns) - origin[c];
      sums[c] += (a + b) + (d + e);
      squares[c] += (a * a + b * b) + (d * d + e * e);
    }
  }
  for (; row < rows; ++row) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const float a = load(x, row * columns + c) - origin[c];
      sums[c] += a;
      squares[c] += a * a;
    }
  }
}

DDBENCH_WIDEST_VECTORS
void moments(const float* x, std::int64_t rows, std::int64_t columns, const float* origin, float* sums,
             float* squares) {
  moments_loop(x, rows, columns, origin, sums, squares);
}
DDBENCH_WIDEST_VECTORS
void moments(const Bfloat16* x, std::int64_t rows, std::int64_t columns, const float* origin, float* sums,
             float* squares) {
  moments_loop(x, rows, columns, origin, sums, squares);
}

/// y = x * factor + offset + residual, cut off at `floor`; NaN stays NaN, so that the loss shows it.
template <typename T>
[[gnu::always_inline]] inline void affine_loop(const T* x, std::int64_t rows, std::int64_t columns,
                                               const float* __restrict factor, const float* __restrict offset,
                                               const T* residual, float floor, T* __restrict y) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t first = row * columns;
    if (residual == nullptr) {
      for (std::int64_t c = 0; c < columns; ++c) {
        const float value = load(x, first + c) * factor[c] + offset[c];
        store(y, first + c, value <= floor ? floor : value);
      }
    } else {
      for (std::int64_t c = 0; c < columns; ++c) {
        const float value = load(x, first + c) * factor[c] + offset[c] + load(residual, first + c);
        store(y, first + c, value <= floor ? floor : value);
      }
    }
  }
}

DDBENCH_WIDEST_VECTORS
void affine(const float* x, std::int64_t rows, std::int64_t columns, const float* factor, const float* offset,
            const float* residual, float floor, float* y) {
  affine_loop(x, rows, columns, factor, offset, residual, floor, y);
}
DDBENCH_WIDEST_VECTORS
void affine(const Bfloat16* x, std::int64_t rows, std::int64_t columns, const float* factor,
            const float* offset, const Bfloat16* residual, float floor, Bfloat16* y) {
  affine_loop(x, rows, columns, factor, offset, residual, floor, y);
}

/// Cuts dy off where y is 0, but not where it is NaN (unless y is null); adds dy to sums and dy * (x - mean) to products.
template <typename T>
[[gnu::always_inline]] inline void gradient_sums_loop(const T* __restrict x, const T* __restrict y,
                                                      std::int64_t rows, std::int64_t columns,
                                                      const float* __restrict mean, T* __restrict dy,
                                                      float* __restrict sums, float* __restrict products) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t first = row * columns;
    if (y != nullptr) {
      for (std::int64_t c = 0; c < columns; ++c) {
        const float gradient = load(y, first + c) <= 0.0F ? 0.0F : load(dy, first + c);
        store(dy, first + c, gradient);
        sums[c] += gradient;
        products[c] += gradient * (load(x, first + c) - mean[c]);
      }
    } else {
      for (std::int64_t c = 0; c < columns; ++c) {
        const float gradient = load(dy, first + c);
        sums[c] += gradient;
        products[c] += gradient * (load(x, first + c) - mean[c]);
      }
    }
  }
}

DDBENCH_WIDEST_VECTORS
void gradient_sums(const float* x, const float* y, std::int64_t rows, std::int64_t columns, const float* mean,
                   float* dy, float* sums, float* products) {
  gradient_sums_loop(x, y, rows, columns, mean, dy, sums, products);
}
DDBENCH_WIDEST_VECTORS
void gradient_sums(const Bfloat16* x, const Bfloat16* y, std::int64_t rows, std::int64_t columns,
                   const float* mean, Bfloat16* dy, float* sums, float* products) {
  gradient_sums_loop(x, y, rows, columns, mean, dy, sums, products);
}

/// dx = dy * a + x * b + c
template <typename T>
[[gnu::always_inline]] inline void input_gradient_loop(const T* __restrict x, const T* __restrict dy,
                                                       std::int64_t rows, std::int64_t columns,
                                                       const float* __restrict a, const float* __restrict b,
                                                       const float* __restrict c, T* __restrict dx) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t first = row * columns;
    for (std::int64_t j = 0; j < columns; ++j) {
      store(dx, first + j, load(dy, first + j) * a[j] + (load(x, first + j) * b[j] + c[j]));
    }
  }
}

DDBENCH_WIDEST_VECTORS
void input_gradient(const float* x, const float* dy, std::int64_t rows, std::int64_t columns, const float* a,
                    const float* b, const float* c, float* dx) {
  input_gradient_loop(x, dy, rows, columns, a, b, c, dx);
}
DDBENCH_WIDEST_VECTORS
void input_gradient(const Bfloat16* x, const Bfloat16* dy, std::int64_t rows, std::int64_t columns,
                    const float* a, const float* b, const float* c, Bfloat16* dx) {
  input_gradient_loop(x, dy, rows, columns, a, b, c, dx);
}

/// Calls sum(first row, rows, sums, others) for block after block, and adds up in double.
template <typename SumBlock>
void sum_blocks(std::int64_t rows, std::int64_t columns, float* block, double* total, const SumBlock& sum) {
  std::memset(total, 0, static_cast<std::size_t>(2 * columns) * sizeof(double));
  for (std::int64_t row = 0; row < rows; row += kBlockRows) {
    std::memset(block, 0, static_cast<std::size_t>(2 * columns) * sizeof(float));
    sum(row, std::min(kBlockRows, rows - row), block, block + columns);
    for (std::int64_t i = 0; i < 2 * columns; ++i) total[i] += static_cast<double>(block[i]);
  }
}

void expect_statistics(const char* operation, const BatchStatistics& statistics, std::int64_t channels) {
  expect(operation, {{"mean", statistics.mean, 1, channels},
                     {"inverse_deviation", statistics.inverse_deviation, 1, channels}});
}

}  // namespace

void CpuDevice::batch_norm_forward(const Tensor& x, const Tensor& scale, const Tensor& shift,
                                   const Tensor& residual, Activation activation, float epsilon,
                                   const BatchStatistics& statistics, const Tensor& y) {
  constexpr const char* kName = "batch_norm_forward";
  const std::int64_t rows = x.rows;
  const std::int64_t channels = x.columns;
  expect(kName, {{"x", x, rows, channels, x.type},
                 {"scale", scale, 1, channels},
                 {"shift", shift, 1, channels},
                 {"y", y, rows, channels, x.type}});
  if (residual.data != nullptr) expect(kName, {{"residual", residual, rows, channels, x.type}});
  expect_statistics(kName, statistics, channels);

  auto* const total = static_cast<double*>(scratch_.bytes(channels * (2 * 8 + 5 * 4)));
  auto* const block = reinterpret_cast<float*>(total + 2 * channels);
  float* const origin = block + 2 * channels;
  float* const factor = origin + channels;
  float* const offset = factor + channels;
  const float floor = activation == Activation::kRelu ? 0.0F : -HUGE_VALF;
  with_elements(
      kName,
      [&](const auto* in, auto* out, const auto* added) {
        // Distances from the first row: squares of the values themselves could cancel.
        for (std::int64_t c = 0; c < channels; ++c) origin[c] = load(in, c);
        sum_blocks(rows, channels, block, total,
                   [&](std::int64_t row, std::int64_t count, float* s, float* q) {
                     moments(in + row * channels, count, channels, origin, s, q);
                   });
        for (std::int64_t c = 0; c < channels; ++c) {
          const double mean = total[c] / static_cast<double>(rows);
          const double variance =
              std::max(total[channels + c] / static_cast<double>(rows) - mean * mean, 0.0);
          floats(statistics.mean)[c] = static_cast<float>(static_cast<double>(origin[c]) + mean);
          floats(statistics.inverse_deviation)[c] =
              static_cast<float>(1.0 / std::sqrt(variance + static_cast<double>(epsilon)));
          factor[c] = floats(scale)[c] * floats(statistics.inverse_deviation)[c];
          offset[c] = floats(shift)[c] - floats(statistics.mean)[c] * factor[c];
        }
        affine(in, rows, channels, factor, offset, added, floor, out);
      },
      x, y, residual);
}

void CpuDevice::batch_norm_backward(const Tensor& x, const Tensor& y, const Tensor& scale,
                                    Activation activation, const BatchStatistics& statistics,
                                    const Tensor& dy, GradientWrite write, const Tensor& dscale,
                                    const Tensor& dshift, const Tensor& dx) {
  constexpr const char* kName = "batch_norm_backward";
  const std::int64_t rows = x.rows;
  const std::int64_t channels = x.columns;
  expect(kName, {{"x", x, rows, channels, x.type},
                 {"y", y, rows, channels, x.type},
                 {"scale", scale, 1, channels},
                 {"dy", dy, rows, channels, x.type},
                 {"dscale", dscale, 1, channels},
                 {"dshift", dshift, 1, channels},
                 {"dx", dx, rows, channels, x.type}});
  expect_statistics(kName, statistics, channels);

  auto* const total = static_cast<double*>(scratch_.bytes(channels * (2 * 8 + 5 * 4)));
  auto* const block = reinterpret_cast<float*>(total + 2 * channels);
  float* const a = block + 2 * channels;
  float* const b = a + channels;
  float* const c = b + channels;
  const float* const mean = floats(statistics.mean);
  const float* const inverse = floats(statistics.inverse_deviation);
  const bool accumulate = write == GradientWrite::kAccumulate;
  with_elements(
      kName,
      [&](const auto* in, auto* out, auto* gradient, auto* in_gradient) {
        const auto* const cut = activation == Activation::kRelu ? out : nullptr;
        sum_blocks(rows, channels, block, total,
                   [&](std::int64_t row, std::int64_t count, float* s, float* p) {
                     const std::int64_t first = row * channels;
                     gradient_sums(in + first, cut == nullptr ? cut : cut + first, count, channels, mean,
                                   gradient + first, s, p);
                   });
        for (std::int64_t i = 0; i < channels; ++i) {
          const auto count = static_cast<double>(rows);
          const double deviation = static_cast<double>(inverse[i]);
          const double shift_sum = total[i];
          const double scale_sum = total[channels + i] * deviation;
          const double factor = static_cast<double>(floats(scale)[i]) * deviation;
          const double slope = -factor * scale_sum / count * deviation;
          a[i] = static_cast<float>(factor);
          b[i] = static_cast<float>(slope);
          c[i] = static_cast<float>(-factor * shift_sum / count - slope * static_cast<double>(mean[i]));
          // No product with 0: what is overwritten may be infinity or NaN.
          floats(dshift)[i] = static_cast<float>(shift_sum) + (accumulate ? floats(dshift)[i] : 0.0F);
          floats(dscale)[i] = static_cast<float>(scale_sum) + (accumulate ? floats(dscale)[i] : 0.0F);
        }
        input_gradient(in, gradient, rows, channels, a, b, c, in_gradient);
      },
      x, y, dy, dx);
}

}  // namespace ddbench::device::cpu
