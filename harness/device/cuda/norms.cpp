#include <algorithm>

#include "harness/device/cuda/cuda_device.h"
#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/expect.h"

namespace ddbench::device::cuda {
namespace {

void expect_statistics(const char* operation, const BatchStatistics& statistics, std::int64_t channels) {
  expect(operation, {{"mean", statistics.mean, 1, channels},
                     {"inverse_deviation", statistics.inverse_deviation, 1, channels}});
}

}  // namespace

void CudaDevice::batch_norm_forward(const Tensor& x, const Tensor& scale, const Tensor& shift,
                                    const Tensor& residual, Activation activation, float epsilon,
                                    const BatchStatistics& statistics, const Tensor& y) {
  constexpr const char* kName = "batch_norm_forward";
  expect(kName, {{"x", x, x.rows, x.columns, x.type},
                 {"scale", scale, 1, x.columns},
                 {"shift", shift, 1, x.columns},
                 {"y", y, x.rows, x.columns, x.type}});
  if (residual.data != nullptr) expect(kName, {{"residual", residual, x.rows, x.columns, x.type}});
  expect_statistics(kName, statistics, x.columns);
  expect_activations(kName, x);
  cuda::batch_norm_forward(stream_.get(), x, scale, shift, residual, activation, epsilon, statistics, y,
                           scratch_.floats(column_scratch(x.rows, x.columns)));
}

void CudaDevice::batch_norm_backward(const Tensor& x, const Tensor& y, const Tensor& scale,
                                     Activation activation, const BatchStatistics& statistics,
                                     const Tensor& dy, GradientWrite write, const Tensor& dscale,
                                     const Tensor& dshift, const Tensor& dx) {
  constexpr const char* kName = "batch_norm_backward";
  expect(kName, {{"x", x, x.rows, x.columns, x.type},
                 {"y", y, x.rows, x.columns, x.type},
                 {"scale", scale, 1, x.columns},
                 {"dy", dy, x.rows, x.columns, x.type},
                 {"dscale", dscale, 1, x.columns},
                 {"dshift", dshift, 1, x.columns},
                 {"dx", dx, x.rows, x.columns, x.type}});
  expect_statistics(kName, statistics, x.columns);
  expect_activations(kName, x);
  cuda::batch_norm_backward(stream_.get(), x, y, scale, activation, statistics, dy, write, dscale, dshift, dx,
                            scratch_.floats(column_scratch(x.rows, x.columns)));
}

void CudaDevice::layer_norm_forward(const Tensor& x, const Tensor& scale, const Tensor& shift, float epsilon,
                                    const Tensor& statistics, const Tensor& y) {
  constexpr const char* kName = "layer_norm_forward";
  expect(kName, {{"x", x, x.rows, x.columns, x.type},
                 {"scale", scale, 1, x.columns},
                 {"shift", shift, 1, x.columns},
                 {"statistics", statistics, x.rows, 2},
                 {"y", y, x.rows, x.columns, x.type}});
  expect_activations(kName, x);
  cuda::layer_norm_forward(stream_.get(), {}, x, scale, shift, epsilon, statistics, y);
}

void CudaDevice::add_layer_norm_forward(const Tensor& x, const Tensor& sum, const Tensor& scale, const Tensor& shift,
                                        float epsilon, const Tensor& statistics, const Tensor& y) {
  constexpr const char* kName = "add_layer_norm_forward";
  expect(kName, {{"x", x, x.rows, x.columns, x.type},
                 {"sum", sum, x.rows, x.columns, x.type},
                 {"scale", scale, 1, x.columns},
                 {"shift", shift, 1, x.columns},
                 {"statistics", statistics, x.rows, 2},
                 {"y", y, x.rows, x.columns, x.type}});
  expect_activations(kName, x);
  cuda::layer_norm_forward(stream_.get(), x, sum, scale, shift, epsilon, statistics, y);
}

void CudaDevice::layer_norm_backward(const Tensor& x, const Tensor& scale, const Tensor& statistics,
                                     const Tensor& dy, GradientWrite write, const Tensor& dscale,
                                     const Tensor& dshift, GradientWrite dx_write, const Tensor& dx) {
  constexpr const char* kName = "layer_norm_backward";
  expect(kName, {{"x", x, x.rows, x.columns, x.type},
                 {"scale", scale, 1, x.columns},
                 {"statistics", statistics, x.rows, 2},
                 {"dy", dy, x.rows, x.columns, x.type},
                 {"dscale", dscale, 1, x.columns},
                 {"dshift", dshift, 1, x.columns},
                 {"dx", dx, x.rows, x.columns, x.type}});
  expect_activations(kName, x);
  const std::int64_t partials = std::max(layer_norm_scratch(x.rows, x.columns), column_scratch(x.rows, x.columns));
  if (cuda::layer_norm_backward(stream_.get(), x, scale, statistics, dy, write, dscale, dshift, dx_write, dx,
                                scratch_.floats(partials))) {
    return;
  }
  layer_norm_parameters(stream_.get(), x, statistics, dy, write, dscale, dshift,
                        scratch_.floats(column_scratch(x.rows, x.columns)));
  layer_norm_input(stream_.get(), x, scale, statistics, dy, dx_write, dx);
}

}  // namespace ddbench::device::cuda
