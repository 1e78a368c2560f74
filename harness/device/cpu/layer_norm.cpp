#include <algorithm>
#include <cmath>

#include "harness/device/cpu/cpu_device.h"
#include "harness/device/cpu/expect.h"
#include "harness/device/cpu/widest_vectors.h"

namespace ddbench::device::cpu {
namespace {

// Number of rows over which gradients of scale and shift are summed before they are added to the total.
constexpr std::int64_t kBlockRows = 64;

template <typename T>
[[gnu::always_inline]] inline void forward_loop(const T* __restrict x, std::int64_t rows,
                                                std::int64_t columns, const float* __restrict scale,
                                                const float* __restrict shift, float epsilon,
                                                float* __restrict statistics, T* __restrict y) {
  const std::int64_t whole = columns / kLanes * kLanes;
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* __restrict in = x + row * columns;
    T* __restrict out = y + row * columns;
    float lanes[kLanes] = {};
    for (std::int64_t i = 0; i < whole; i += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += load(in, i + lane);
    }
    for (std::int64_t i = whole; i < columns; ++i) lanes[0] += load(in, i);
    const float mean = sum_of(lanes) / static_cast<float>(columns);
    float squares[kLanes] = {};
    for (std::int64_t i = 0; i < whole; i += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        const float distance = load(in, i + lane) - mean;
        squares[lane] += distance * distance;
      }
    }
    for (std::int64_t i = whole; i < columns; ++i) {
      squares[0] += (load(in, i) - mean) * (load(in, i) - mean);
    }
    const float inverse = 1.0F / std::sqrt(sum_of(squares) / static_cast<float>(columns) + epsilon);
    statistics[2 * row] = mean;
    statistics[2 * row + 1] = inverse;
    for (std::int64_t i = 0; i < columns; ++i) {
      store(out, i, (load(in, i) - mean) * inverse * scale[i] + shift[i]);
    }
  }
}

DDBENCH_WIDEST_VECTORS
void forward(const float* x, std::int64_t rows, std::int64_t columns, const float* scale, const float* shift,
             float epsilon, float* statistics, float* y) {
  forward_loop(x, rows, columns, scale, shift, epsilon, statistics, y);
}
DDBENCH_WIDEST_VECTORS
void forward(const Bfloat16* x, std::int64_t rows, std::int64_t columns, const float* scale,
             const float* shift, float epsilon, float* statistics, Bfloat16* y) {
  forward_loop(x, rows, columns, scale, shift, epsilon, statistics, y);
}

/// With n = (x - mean) * inverse and g = dy * scale:
/// dx = inverse * (g - mean of g - n * mean of g n); dscale and dshift are added to.
template <typename T>
[[gnu::always_inline]] inline void backward_loop(const T* __restrict x, std::int64_t rows,
                                                 std::int64_t columns, const float* __restrict scale,
                                                 const float* __restrict statistics, const T* __restrict dy,
                                                 bool add, float* __restrict dscale, float* __restrict dshift,
                                                 T* __restrict dx) {
  const std::int64_t whole = columns / kLanes * kLanes;
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* __restrict in = x + row * columns;
    const T* __restrict gradient = dy + row * columns;
    T* __restrict out = dx + row * columns;
    const float mean = statistics[2 * row];
    const float inverse = statistics[2 * row + 1];
    float sums[kLanes] = {};
    float products[kLanes] = {};
    for (std::int64_t i = 0; i < whole; i += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        const float g = load(gradient, i + lane) * scale[i + lane];
        sums[lane] += g;
        products[lane] += g * (load(in, i + lane) - mean);
      }
    }
    for (std::int64_t i = whole; i < columns; ++i) {
      const float g = load(gradient, i) * scale[i];
      sums[0] += g;
      products[0] += g * (load(in, i) - mean);
    }
    const float g_mean = sum_of(sums) / static_cast<float>(columns);
    const float gn_mean = sum_of(products) * inverse / static_cast<float>(columns);
    for (std::int64_t i = 0; i < columns; ++i) {
      const float normal = (load(in, i) - mean) * inverse;
      const float g = load(gradient, i);
      dscale[i] += g * normal;
      dshift[i] += g;
      const float moved = inverse * (g * scale[i] - g_mean - normal * gn_mean);
      store(out, i, add ? load(out, i) + moved : moved);
    }
  }
}

DDBENCH_WIDEST_VECTORS
void backward(const float* x, std::int64_t rows, std::int64_t columns, const float* scale,
              const float* statistics, const float* dy, bool add, float* dscale, float* dshift, float* dx) {
  backward_loop(x, rows, columns, scale, statistics, dy, add, dscale, dshift, dx);
}
DDBENCH_WIDEST_VECTORS
void backward(const Bfloat16* x, std::int64_t rows, std::int64_t columns, const float* scale,
              const float* statistics, const Bfloat16* dy, bool add, float* dscale, float* dshift,
              Bfloat16* dx) {
  backward_loop(x, rows, columns, scale, statistics, dy, add, dscale, dshift, dx);
}

}  // namespace

void CpuDevice::layer_norm_forward(const Tensor& x, const Tensor& scale, const Tensor& shift, float epsilon,
                                   const Tensor& statistics, const Tensor& y) {
  expect("layer_norm_forward", {{"x", x, x.rows, x.columns, x.type},
                                {"scale", scale, 1, x.columns},
                                {"shift", shift, 1, x.columns},
                                {"statistics", statistics, x.rows, 2},
                                {"y", y, x.rows, x.columns, x.type}});
  with_elements(
      "layer_norm_forward",
      [&](const auto* in, auto* out) {
        forward(in, x.rows, x.columns, floats(scale), floats(shift), epsilon, floats(statistics), out);
      },
      x, y);
}

void CpuDevice::layer_norm_backward(const Tensor& x, const Tensor& scale, const Tensor& statistics,
                                    const Tensor& dy, GradientWrite write, const Tensor& dscale,
                                    const Tensor& dshift, GradientWrite dx_write, const Tensor& dx) {
  const std::int64_t columns = x.columns;
  expect("layer_norm_backward", {{"x", x, x.rows, columns, x.type},
                                 {"scale", scale, 1, columns},
                                 {"statistics", statistics, x.rows, 2},
                                 {"dy", dy, x.rows, columns, x.type},
                                 {"dscale", dscale, 1, columns},
                                 {"dshift", dshift, 1, columns},
                                 {"dx", dx, x.rows, columns, x.type}});
  if (write == GradientWrite::kOverwrite) {
    fill(dscale, 0);
    fill(dshift, 0);
  }
  float* const block = scratch_.floats(2 * columns);
  with_elements(
      "layer_norm_backward",
      [&](const auto* in, const auto* gradient, auto* out) {
        for (std::int64_t row = 0; row < x.rows; row += kBlockRows) {
          const std::int64_t first = row * columns;
          std::fill_n(block, 2 * columns, 0.0F);
          backward(in + first, std::min(kBlockRows, x.rows - row), columns, floats(scale),
                   floats(statistics) + 2 * row, gradient + first, dx_write == GradientWrite::kAccumulate,
                   block, block + columns, out + first);
          for (std::int64_t i = 0; i < columns; ++i) {
            floats(dscale)[i] += block[i];
            floats(dshift)[i] += block[columns + i];
          }
        }
      },
      x, dy, dx);
}

}  // namespace ddbench::device::cpu
