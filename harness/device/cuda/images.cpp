// Convolution and pooling of NHWC images.
#include "harness/device/cuda/cuda_device.h"
#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/expect.h"

namespace ddbench::device::cuda {
namespace {

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
  expect_activations(operation, x);
  return {window, x.columns, y.columns, x.type};
}

}  // namespace

void CudaDevice::conv2d_forward(const Window& window, const Tensor& x, const Tensor& weight,
                                const Tensor& y) {
  convolutions_.forward(shape_of("conv2d_forward", window, x, y, weight, x.type), x.data, weight.data,
                        y.data);
}

void CudaDevice::conv2d_backward_input(const Window& window, const Tensor& dy, const Tensor& weight,
                                       const Tensor& dx) {
  convolutions_.backward_input(shape_of("conv2d_backward_input", window, dx, dy, weight, dx.type), dy.data,
                               weight.data, dx.data);
}

void CudaDevice::conv2d_backward_weight(const Window& window, const Tensor& x, const Tensor& dy,
                                        GradientWrite write, const Tensor& dweight) {
  convolutions_.backward_weight(
      shape_of("conv2d_backward_weight", window, x, dy, dweight, DataType::kFloat32), x.data, dy.data, write,
      dweight.data);
}

void CudaDevice::max_pool_forward(const Window& window, const Tensor& x, const Tensor& y) {
  constexpr const char* kName = "max_pool_forward";
  expect_window(kName, window);
  expect(kName,
         {{"x", x, window.in_rows(), x.columns, x.type}, {"y", y, window.out_rows(), x.columns, x.type}});
  expect_activations(kName, x);
  cuda::max_pool_forward(stream_.get(), window, x, y);
}

void CudaDevice::max_pool_backward(const Window& window, const Tensor& x, const Tensor& y, const Tensor& dy,
                                   const Tensor& dx) {
  constexpr const char* kName = "max_pool_backward";
  expect_window(kName, window);
  expect(kName, {{"x", x, window.in_rows(), x.columns, x.type},
                 {"y", y, window.out_rows(), x.columns, x.type},
                 {"dy", dy, window.out_rows(), x.columns, x.type},
                 {"dx", dx, window.in_rows(), x.columns, x.type}});
  expect_activations(kName, x);
  cuda::max_pool_backward(stream_.get(), window, x, y, dy, dx);
}

void CudaDevice::average_pool_forward(const Tensor& x, const Tensor& y) {
  constexpr const char* kName = "average_pool_forward";
  expect_that(kName, y.rows > 0 && x.rows % y.rows == 0, "x has no whole samples");
  expect(kName, {{"x", x, x.rows, y.columns, x.type}, {"y", y, y.rows, y.columns, x.type}});
  expect_activations(kName, x);
  cuda::average_pool_forward(stream_.get(), x, y);
}

void CudaDevice::average_pool_backward(const Tensor& dy, const Tensor& dx) {
  constexpr const char* kName = "average_pool_backward";
  expect_that(kName, dy.rows > 0 && dx.rows % dy.rows == 0, "dx has no whole samples");
  expect(kName, {{"dy", dy, dy.rows, dy.columns, dx.type}, {"dx", dx, dx.rows, dy.columns, dx.type}});
  expect_activations(kName, dx);
  cuda::average_pool_backward(stream_.get(), dy, dx);
}

}  // namespace ddbench::device::cuda
