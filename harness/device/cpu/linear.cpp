#include "harness/device/cpu/cpu_device.h"
#include "harness/device/cpu/expect.h"
#include "harness/device/cpu/widest_vectors.h"

namespace ddbench::device::cpu {
namespace {

template <typename T>
[[gnu::always_inline]] inline void add_rows(const T* __restrict values, std::int64_t rows, std::int64_t columns,
                                            std::int64_t leading, float* __restrict sums) {
  std::int64_t row = 0;
  for (; row + 4 <= rows; row += 4) {  // fewer turns through `sums`
    const T* __restrict line = values + row * leading;
    for (std::int64_t j = 0; j < columns; ++j) {
      sums[j] += (load(line, j) + load(line, j + leading)) +
                 (load(line, j + 2 * leading) + load(line, j + 3 * leading));
    }
  }
  for (; row < rows; ++row) {
    for (std::int64_t j = 0; j < columns; ++j) sums[j] += load(values, row * leading + j);
  }
}

DDBENCH_WIDEST_VECTORS
void column_sums(const float* values, std::int64_t rows, std::int64_t columns, std::int64_t leading, float* sums) {
  add_rows(values, rows, columns, leading, sums);
}
DDBENCH_WIDEST_VECTORS
void column_sums(const Bfloat16* values, std::int64_t rows, std::int64_t columns, std::int64_t leading, float* sums) {
  add_rows(values, rows, columns, leading, sums);
}

}  // namespace

void CpuDevice::linear_forward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                               Activation activation, const Tensor& y) {
  expect("linear_forward", {{"x", x, x.rows, x.columns, x.type},
                            {"weight", weight, y.columns, x.columns, x.type},
                            {"y", y, x.rows, y.columns, x.type, true}});
  if (bias.data != nullptr) expect("linear_forward", {{"bias", bias, 1, y.columns}});
  products_.run({.m = x.rows,
                 .n = y.columns,
                 .k = x.columns,
                 .transpose_b = true,
                 .in = x.type,
                 .out = x.type,
                 .bias = bias.data != nullptr,
                 .activation = activation,
                 .c_stride = y.stride},
                x.data, weight.data, bias.data, y.data);
}

// Backward in float32 is sgemm: it is quicker there than the matmul primitive (see the README).

void CpuDevice::linear_backward_input(const Tensor& dy, const Tensor& weight, GradientWrite write,
                                      const Tensor& dx) {
  expect("linear_backward_input", {{"dy", dy, dy.rows, dy.columns, dy.type, true},
                                   {"weight", weight, dy.columns, dx.columns, dy.type},
                                   {"dx", dx, dy.rows, dx.columns, dy.type}});
  const bool accumulate = write == GradientWrite::kAccumulate;
  if (dy.type == DataType::kFloat32) {
    multiply(dx.rows, dx.columns, dy.columns, 1.0F, {floats(dy), dy.leading()}, {floats(weight), dx.columns},
             accumulate ? 1.0F : 0.0F, floats(dx), dx.columns);
    return;
  }
  products_.run({.m = dx.rows,
                 .n = dx.columns,
                 .k = dy.columns,
                 .in = dy.type,
                 .out = dy.type,
                 .accumulate = accumulate,
                 .a_stride = dy.stride},
                dy.data, weight.data, nullptr, dx.data);
}

void CpuDevice::linear_backward_weight(const Tensor& x, const Tensor& dy, GradientWrite write,
                                       const Tensor& dweight, const Tensor& dbias) {
  expect("linear_backward_weight", {{"x", x, x.rows, x.columns, x.type},
                                    {"dy", dy, x.rows, dy.columns, x.type, true},
                                    {"dweight", dweight, dy.columns, x.columns}});
  const bool accumulate = write == GradientWrite::kAccumulate;
  if (x.type == DataType::kFloat32) {
    multiply(dweight.rows, dweight.columns, x.rows, 1.0F,
             {.data = floats(dy), .stride = dy.leading(), .transposed = true}, {floats(x), x.columns},
             accumulate ? 1.0F : 0.0F, floats(dweight), dweight.columns);
  } else {
    products_.run({.m = dweight.rows,
                   .n = dweight.columns,
                   .k = x.rows,
                   .transpose_a = true,
                   .in = x.type,
                   .accumulate = accumulate,
                   .a_stride = dy.stride},
                  dy.data, x.data, nullptr, dweight.data);
  }
  if (dbias.data == nullptr) return;
  expect("linear_backward_weight", {{"dbias", dbias, 1, dy.columns}});
  if (!accumulate) fill(dbias, 0);
  with_elements(
      "linear_backward_weight",
      [&](const auto* gradient) { column_sums(gradient, dy.rows, dy.columns, dy.leading(), floats(dbias)); }, dy);
}

}  // namespace ddbench::device::cpu
