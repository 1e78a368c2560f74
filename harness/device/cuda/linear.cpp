#include "harness/device/cuda/cuda_device.h"
#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/expect.h"

namespace ddbench::device::cuda {

void CudaDevice::linear_forward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                Activation activation, const Tensor& y) {
  constexpr const char* kName = "linear_forward";
  expect(kName, {{"x", x, x.rows, x.columns, x.type},
                 {"weight", weight, y.columns, x.columns, x.type},
                 {"y", y, x.rows, y.columns, x.type}});
  expect_activations(kName, x);
  const bool has_bias = bias.data != nullptr;
  const void* added = bias.data;
  if (has_bias) {
    expect(kName, {{"bias", bias, 1, y.columns}});
    // cuBLASLt adds a bias of the result's type, of its alignment.
    const bool aligned = reinterpret_cast<std::uintptr_t>(bias.data) % MatrixProducts::kBiasAlignment == 0;
    if (y.type != DataType::kFloat32 || !aligned) {
      const Tensor fitting{scratch_.bytes(bias.columns * size_of(y.type)), 1, bias.columns, y.type};
      convert(stream_.get(), bias, 1.0F, GradientWrite::kOverwrite, fitting);
      added = fitting.data;
    }
  }
  Product product{.m = x.rows,
                  .n = y.columns,
                  .k = x.columns,
                  .transpose_b = true,
                  .in = x.type,
                  .out = x.type,
                  .bias = has_bias,
                  .activation = activation};
  if (products_.can_run(product, x.data, weight.data, y.data)) {
    products_.run(product, 1.0F, x.data, weight.data, added, y.data);
    return;
  }
  product.bias = false;
  product.activation = Activation::kNone;
  products_.run(product, 1.0F, x.data, weight.data, nullptr, y.data);
  add_bias(stream_.get(), bias, activation, y);
}

void CudaDevice::linear_backward_input(const Tensor& dy, const Tensor& weight, GradientWrite write,
                                       const Tensor& dx) {
  constexpr const char* kName = "linear_backward_input";
  expect(kName, {{"dy", dy, dy.rows, dy.columns, dy.type},
                 {"weight", weight, dy.columns, dx.columns, dy.type},
                 {"dx", dx, dy.rows, dx.columns, dy.type}});
  expect_activations(kName, dy);
  products_.run({.m = dx.rows,
                 .n = dx.columns,
                 .k = dy.columns,
                 .in = dy.type,
                 .out = dy.type,
                 .accumulate = write == GradientWrite::kAccumulate},
                1.0F, dy.data, weight.data, nullptr, dx.data);
}

void CudaDevice::linear_backward_weight(const Tensor& x, const Tensor& dy, GradientWrite write,
                                        const Tensor& dweight, const Tensor& dbias) {
  constexpr const char* kName = "linear_backward_weight";
  expect(kName, {{"x", x, x.rows, x.columns, x.type},
                 {"dy", dy, x.rows, dy.columns, x.type},
                 {"dweight", dweight, dy.columns, x.columns}});
  expect_activations(kName, x);
  products_.run({.m = dweight.rows,
                 .n = dweight.columns,
                 .k = x.rows,
                 .transpose_a = true,
                 .in = x.type,
                 .accumulate = write == GradientWrite::kAccumulate},
                1.0F, dy.data, x.data, nullptr, dweight.data);
  if (dbias.data == nullptr) return;
  expect(kName, {{"dbias", dbias, 1, dy.columns}});
  column_sums(stream_.get(), dy, write, dbias, scratch_.floats(column_scratch(dy.rows, dy.columns)));
}

}  // namespace ddbench::device::cuda
