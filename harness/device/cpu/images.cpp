// Convolution and pooling of NHWC images.
#include <algorithm>
#include <cmath>

#include "harness/device/cpu/cpu_device.h"
#include "harness/device/cpu/expect.h"
#include "harness/device/cpu/widest_vectors.h"

namespace ddbench::device::cpu {
namespace {

/// Calls visit(row of x) for the pixels of the window of an output pixel, row by row.
template <typename Visit>
[[gnu::always_inline]] inline void for_window(const Window& w, std::int64_t image, std::int64_t out_row,
                                              std::int64_t out_column, const Visit& visit) {
  const std::int64_t top = out_row * w.stride - w.padding;
  const std::int64_t left = out_column * w.stride - w.padding;
  for (std::int64_t row = std::max<std::int64_t>(top, 0); row < std::min(top + w.kernel, w.height); ++row) {
    for (std::int64_t column = std::max<std::int64_t>(left, 0); column < std::min(left + w.kernel, w.width);
         ++column) {
      visit((image * w.height + row) * w.width + column);
    }
  }
}

template <typename T>
[[gnu::always_inline]] inline void keep_larger(const T* __restrict from, std::int64_t channels,
                                               float* __restrict best) {
  for (std::int64_t c = 0; c < channels; ++c) {
    const float value = load(from, c);
    best[c] = value > best[c] ? value : best[c];
  }
}

/// `best` is scratch for the channels of a pixel.
template <typename T>
[[gnu::always_inline]] inline void largest_loop(const Window& w, const T* __restrict x, std::int64_t channels,
                                                float* __restrict best, T* __restrict y) {
  std::int64_t out = 0;
  for (std::int64_t image = 0; image < w.batch; ++image) {
    for (std::int64_t row = 0; row < w.out_height(); ++row) {
      for (std::int64_t column = 0; column < w.out_width(); ++column, ++out) {
        std::fill_n(best, channels, -HUGE_VALF);
        for_window(
            w, image, row, column, [&](std::int64_t pixel) __attribute__((always_inline)) {
              keep_larger(x + pixel * channels, channels, best);
            });
        for (std::int64_t c = 0; c < channels; ++c) store(y, out * channels + c, best[c]);
      }
    }
  }
}

DDBENCH_WIDEST_VECTORS
void largest(const Window& w, const float* x, std::int64_t channels, float* best, float* y) {
  largest_loop(w, x, channels, best, y);
}
DDBENCH_WIDEST_VECTORS
void largest(const Window& w, const Bfloat16* x, std::int64_t channels, float* best, Bfloat16* y) {
  largest_loop(w, x, channels, best, y);
}

/// Two loops: one with both the comparison and the rounding to bfloat16 does not become vectors.
template <typename T>
[[gnu::always_inline]] inline void give_to_equal(const T* __restrict from, const T* __restrict of,
                                                 std::int64_t channels, float* __restrict left,
                                                 float* __restrict given, T* __restrict to) {
  for (std::int64_t c = 0; c < channels; ++c) {
    const float difference = load(from, c) - load(of, c);
    given[c] = difference == 0.0F ? left[c] : 0.0F;
    left[c] = difference == 0.0F ? 0.0F : left[c];
  }
  for (std::int64_t c = 0; c < channels; ++c) store(to, c, load(to, c) + given[c]);
}

/// `left` holds each channel's remaining amount, followed by the amounts that it gives away.
template <typename T>
[[gnu::always_inline]] inline void largest_gradient_loop(const Window& w, const T* __restrict x,
                                                         const T* __restrict y, const T* __restrict dy,
                                                         std::int64_t channels, float* __restrict left,
                                                         T* __restrict dx) {
  std::int64_t out = 0;
  for (std::int64_t image = 0; image < w.batch; ++image) {
    for (std::int64_t row = 0; row < w.out_height(); ++row) {
      for (std::int64_t column = 0; column < w.out_width(); ++column, ++out) {
        const T* __restrict of = y + out * channels;
        for (std::int64_t c = 0; c < channels; ++c) left[c] = load(dy, out * channels + c);
        for_window(
            w, image, row, column, [&](std::int64_t pixel) __attribute__((always_inline)) {
              give_to_equal(x + pixel * channels, of, channels, left, left + channels, dx + pixel * channels);
            });
      }
    }
  }
}

DDBENCH_WIDEST_VECTORS
void largest_gradient(const Window& w, const float* x, const float* y, const float* dy, std::int64_t channels,
                      float* left, float* dx) {
  largest_gradient_loop(w, x, y, dy, channels, left, dx);
}
DDBENCH_WIDEST_VECTORS
void largest_gradient(const Window& w, const Bfloat16* x, const Bfloat16* y, const Bfloat16* dy,
                      std::int64_t channels, float* left, Bfloat16* dx) {
  largest_gradient_loop(w, x, y, dy, channels, left, dx);
}

template <typename T>
void mean_rows(const T* x, std::int64_t samples, std::int64_t rows, std::int64_t channels, float* sums,
               T* y) {
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    std::fill_n(sums, channels, 0.0F);
    for (std::int64_t row = 0; row < rows; ++row) {
      const T* const line = x + (sample * rows + row) * channels;
      for (std::int64_t c = 0; c < channels; ++c) sums[c] += load(line, c);
    }
    for (std::int64_t c = 0; c < channels; ++c) {
      store(y, sample * channels + c, sums[c] / static_cast<float>(rows));
    }
  }
}

template <typename T>
void spread_rows(const T* dy, std::int64_t samples, std::int64_t rows, std::int64_t channels, T* dx) {
  for (std::int64_t row = 0; row < samples * rows; ++row) {
    for (std::int64_t c = 0; c < channels; ++c) {
      store(dx, row * channels + c, load(dy, row / rows * channels + c) / static_cast<float>(rows));
    }
  }
}

void expect_window(const char* operation, const Window& w) {
  expect_that(operation,
              w.batch > 0 && w.height > 0 && w.width > 0 && w.kernel > 0 && w.stride > 0 && w.padding >= 0 &&
                  w.padding < w.kernel && w.height + 2 * w.padding >= w.kernel &&
                  w.width + 2 * w.padding >= w.kernel,
              "the window does not fit the images");
}

ConvolutionShape shape_of(const char* operation, const Window& window, const Tensor& x, const Tensor& y,
                          const Tensor& weight, DataType weight_type) {
  expect_window(operation, window);
  expect(operation, {{"x", x, window.in_rows(), x.columns, x.type},
                     {"y", y, window.out_rows(), y.columns, x.type},
                     {"weight", weight, y.columns, window.kernel * window.kernel * x.columns, weight_type}});
  expect_that(operation, x.type == DataType::kFloat32 || x.type == DataType::kBfloat16,
              "activations must be float32 or bfloat16");
  return {window, x.columns, y.columns, x.type};
}

}  // namespace

void CpuDevice::conv2d_forward(const Window& window, const Tensor& x, const Tensor& weight, const Tensor& y) {
  convolutions_.forward(shape_of("conv2d_forward", window, x, y, weight, x.type), x.data, weight.data,
                        y.data);
}

void CpuDevice::conv2d_backward_input(const Window& window, const Tensor& dy, const Tensor& weight,
                                      const Tensor& dx) {
  convolutions_.backward_input(shape_of("conv2d_backward_input", window, dx, dy, weight, dx.type), dy.data,
                               weight.data, dx.data);
}

void CpuDevice::conv2d_backward_weight(const Window& window, const Tensor& x, const Tensor& dy,
                                       GradientWrite write, const Tensor& dweight) {
  const auto shape = shape_of("conv2d_backward_weight", window, x, dy, dweight, DataType::kFloat32);
  convolutions_.backward_weight(shape, x.data, dy.data, write, floats(dweight));
}

void CpuDevice::max_pool_forward(const Window& window, const Tensor& x, const Tensor& y) {
  expect_window("max_pool_forward", window);
  expect("max_pool_forward",
         {{"x", x, window.in_rows(), x.columns, x.type}, {"y", y, window.out_rows(), x.columns, x.type}});
  float* const best = scratch_.floats(x.columns);
  with_elements(
      "max_pool_forward", [&](const auto* in, auto* out) { largest(window, in, x.columns, best, out); }, x,
      y);
}

void CpuDevice::max_pool_backward(const Window& window, const Tensor& x, const Tensor& y, const Tensor& dy,
                                  const Tensor& dx) {
  expect_window("max_pool_backward", window);
  expect("max_pool_backward", {{"x", x, window.in_rows(), x.columns, x.type},
                               {"y", y, window.out_rows(), x.columns, x.type},
                               {"dy", dy, window.out_rows(), x.columns, x.type},
                               {"dx", dx, window.in_rows(), x.columns, x.type}});
  float* const left = scratch_.floats(2 * x.columns);
  with_elements(
      "max_pool_backward",
      [&](const auto* in, const auto* out, const auto* gradient, auto* in_gradient) {
        for (std::int64_t i = 0; i < dx.elements(); ++i) store(in_gradient, i, 0.0F);
        largest_gradient(window, in, out, gradient, x.columns, left, in_gradient);
      },
      x, y, dy, dx);
}

void CpuDevice::average_pool_forward(const Tensor& x, const Tensor& y) {
  expect_that("average_pool_forward", y.rows > 0 && x.rows % y.rows == 0, "x has no whole samples");
  expect("average_pool_forward", {{"x", x, x.rows, y.columns, x.type}, {"y", y, y.rows, y.columns, x.type}});
  float* const sums = scratch_.floats(y.columns);
  with_elements(
      "average_pool_forward",
      [&](const auto* in, auto* out) { mean_rows(in, y.rows, x.rows / y.rows, y.columns, sums, out); }, x, y);
}

void CpuDevice::average_pool_backward(const Tensor& dy, const Tensor& dx) {
  expect_that("average_pool_backward", dy.rows > 0 && dx.rows % dy.rows == 0, "dx has no whole samples");
  expect("average_pool_backward",
         {{"dy", dy, dy.rows, dy.columns, dx.type}, {"dx", dx, dx.rows, dy.columns, dx.type}});
  with_elements(
      "average_pool_backward",
      [&](const auto* gradient, auto* out) {
        spread_rows(gradient, dy.rows, dx.rows / dy.rows, dy.columns, out);
      },
      dy, dx);
}

}  // namespace ddbench::device::cpu
