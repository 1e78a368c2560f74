#include "harness/device/cuda/cuda_device.h"
#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/expect.h"

namespace ddbench::device::cuda {
namespace {

void* element(const Tensor& tensor, std::int64_t i) {
  return static_cast<std::byte*>(tensor.data) + i * size_of(tensor.type);
}

/// Calls multiply(first column, columns) for what products of the columns of `y` are made of. Of padded rows those in
/// whole packs of 16 bytes come first, for which the fastest kernels are made, and then the few left over.
template <typename Multiply>
void for_columns(const Tensor& y, const Multiply& multiply) {
  const std::int64_t pack = 16 / size_of(y.type);
  const std::int64_t left_over = y.is_dense() ? 0 : y.columns % pack;
  multiply(std::int64_t{0}, y.columns - left_over);
  if (left_over > 0) multiply(y.columns - left_over, left_over);
}

}  // namespace

/// cuBLASLt adds a bias of the result's type, of its alignment.
const void* CudaDevice::fitting_bias(const Tensor& bias, DataType type) {
  if (bias.data == nullptr || (type == DataType::kFloat32 && MatrixProducts::is_aligned(bias.data))) return bias.data;
  const Tensor fitting{scratch_.bytes(bias.columns * size_of(type)), 1, bias.columns, type};
  convert(stream_.get(), bias, 1.0F, GradientWrite::kOverwrite, fitting);
  return fitting.data;
}

void CudaDevice::linear_forward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                Activation activation, const Tensor& y) {
  constexpr const char* kName = "linear_forward";
  expect(kName, {{"x", x, x.rows, x.columns, x.type},
                 {"weight", weight, y.columns, x.columns, x.type},
                 {"y", y, x.rows, y.columns, x.type, true}});
  expect_activations(kName, x);
  const bool has_bias = bias.data != nullptr;
  if (has_bias) expect(kName, {{"bias", bias, 1, y.columns}});
  const void* const fitting = fitting_bias(bias, y.type);
  for_columns(y, [&](std::int64_t first, std::int64_t columns) {
    Product product{.m = x.rows,
                    .n = columns,
                    .k = x.columns,
                    .transpose_b = true,
                    .in = x.type,
                    .out = x.type,
                    .bias = has_bias,
                    .activation = activation,
                    .c_stride = y.stride};
    Operands operands{x.data, element(weight, first * x.columns), element(y, first)};
    if (products_.can_run(product, operands)) {
      const Tensor all{const_cast<void*>(fitting), 1, y.columns, y.type};
      if (has_bias) operands.bias = element(all, first);
      products_.run(product, 1.0F, operands);
      return;
    }
    product.bias = false;
    product.activation = Activation::kNone;
    products_.run(product, 1.0F, operands);
    const Tensor added = has_bias ? bias.part(first, columns) : bias;
    add_bias(stream_.get(), added, activation, {operands.c, y.rows, columns, y.type, y.leading()});
  });
}

void CudaDevice::linear_gelu_forward(const Tensor& x, const Tensor& weight, const Tensor& bias, Gelu form,
                                     const Tensor& before, const Tensor& y) {
  constexpr const char* kName = "linear_gelu_forward";
  expect(kName, {{"x", x, x.rows, x.columns, x.type},
                 {"weight", weight, y.columns, x.columns, x.type},
                 {"before", before, x.rows, y.columns, x.type},
                 {"y", y, x.rows, y.columns, x.type}});
  expect_activations(kName, x);
  const bool has_bias = bias.data != nullptr;
  if (has_bias) expect(kName, {{"bias", bias, 1, y.columns}});
  const Product product{.m = x.rows,
                        .n = y.columns,
                        .k = x.columns,
                        .transpose_b = true,
                        .in = x.type,
                        .out = x.type,
                        .bias = has_bias,
                        .with = WithProduct::kGelu};
  Operands operands{.a = x.data, .b = weight.data, .c = y.data, .beside = before.data};
  const bool is_possible = form == Gelu::kTanh && MatrixProducts::is_aligned(before.data);
  if (!is_possible || !products_.can_run(product, operands)) {
    NetworkOperators::linear_gelu_forward(x, weight, bias, form, before, y);
    return;
  }
  operands.bias = fitting_bias(bias, y.type);
  products_.run(product, 1.0F, operands);
}

void CudaDevice::linear_backward_input(const Tensor& dy, const Tensor& weight, GradientWrite write,
                                       const Tensor& dx) {
  constexpr const char* kName = "linear_backward_input";
  expect(kName, {{"dy", dy, dy.rows, dy.columns, dy.type, true},
                 {"weight", weight, dy.columns, dx.columns, dy.type},
                 {"dx", dx, dy.rows, dx.columns, dy.type}});
  expect_activations(kName, dy);
  for_columns(dy, [&](std::int64_t first, std::int64_t columns) {
    products_.run({.m = dx.rows,
                   .n = dx.columns,
                   .k = columns,
                   .in = dy.type,
                   .out = dy.type,
                   .accumulate = first > 0 || write == GradientWrite::kAccumulate,
                   .a_stride = dy.stride},
                  1.0F, {element(dy, first), element(weight, first * dx.columns), dx.data});
  });
}

void CudaDevice::linear_gelu_backward_input(const Tensor& dy, const Tensor& weight, Gelu form, const Tensor& before,
                                            const Tensor& dbefore) {
  constexpr const char* kName = "linear_gelu_backward_input";
  expect(kName, {{"dy", dy, dy.rows, dy.columns, dy.type},
                 {"weight", weight, dy.columns, before.columns, dy.type},
                 {"before", before, dy.rows, before.columns, dy.type},
                 {"dbefore", dbefore, dy.rows, before.columns, dy.type}});
  expect_activations(kName, dy);
  const Product product{.m = dy.rows,
                        .n = before.columns,
                        .k = dy.columns,
                        .in = dy.type,
                        .out = dy.type,
                        .with = WithProduct::kGeluSlope};
  const Operands operands{.a = dy.data, .b = weight.data, .c = dbefore.data, .beside = before.data};
  const bool is_possible = form == Gelu::kTanh && MatrixProducts::is_aligned(before.data);
  if (is_possible && products_.can_run(product, operands)) {
    products_.run(product, 1.0F, operands);
  } else {
    NetworkOperators::linear_gelu_backward_input(dy, weight, form, before, dbefore);
  }
}

void CudaDevice::linear_backward_weight(const Tensor& x, const Tensor& dy, GradientWrite write,
                                        const Tensor& dweight, const Tensor& dbias) {
  constexpr const char* kName = "linear_backward_weight";
  expect(kName, {{"x", x, x.rows, x.columns, x.type},
                 {"dy", dy, x.rows, dy.columns, x.type, true},
                 {"dweight", dweight, dy.columns, x.columns}});
  if (dbias.data != nullptr) expect(kName, {{"dbias", dbias, 1, dy.columns}});
  expect_activations(kName, x);
  for_columns(dy, [&](std::int64_t first, std::int64_t columns) {
    backward_weight(x, {element(dy, first), dy.rows, columns, dy.type, dy.leading()}, write,
                    dweight.part(first * x.columns, columns * x.columns),
                    dbias.data == nullptr ? dbias : dbias.part(first, columns));
  });
}

/// The gradient of the bias with that of the weight where cuBLASLt can.
void CudaDevice::backward_weight(const Tensor& x, const Tensor& dy, GradientWrite write, const Tensor& dweight,
                                 const Tensor& dbias) {
  Product product{.m = dy.columns,
                  .n = x.columns,
                  .k = x.rows,
                  .transpose_a = true,
                  .in = x.type,
                  .accumulate = write == GradientWrite::kAccumulate,
                  .with = dbias.data == nullptr ? WithProduct::kNothing : WithProduct::kBiasGradient,
                  .a_stride = dy.stride};
  Operands operands{dy.data, x.data, dweight.data};
  const bool is_fused = dbias.data != nullptr && products_.can_run(product, operands);
  if (is_fused) {
    const bool is_direct = write == GradientWrite::kOverwrite && MatrixProducts::is_aligned(dbias.data);
    const Tensor sums{is_direct ? dbias.data : scratch_.floats(dy.columns), 1, dy.columns};
    operands.bias = sums.data;
    products_.run(product, 1.0F, operands);
    if (!is_direct) convert(stream_.get(), sums, 1.0F, write, dbias);
    return;
  }
  product.with = WithProduct::kNothing;
  products_.run(product, 1.0F, operands);
  if (dbias.data == nullptr) return;
  column_sums(stream_.get(), dy, write, dbias, scratch_.floats(column_scratch(dy.rows, dy.columns)));
}

}  // namespace ddbench::device::cuda
