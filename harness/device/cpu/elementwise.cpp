// One pass over memory each: sums, activations, and rows of tables.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "harness/device/cpu/cpu_device.h"
#include "harness/device/cpu/expect.h"
#include "harness/device/cpu/widest_vectors.h"

namespace ddbench::device::cpu {
namespace {

template <typename T, typename U>
[[gnu::always_inline]] inline void add_loop(const T* __restrict x, std::int64_t elements, U* __restrict y) {
  for (std::int64_t i = 0; i < elements; ++i) store(y, i, load(y, i) + load(x, i));
}

DDBENCH_WIDEST_VECTORS
void add_to(const float* x, std::int64_t elements, float* y) {
  add_loop(x, elements, y);
}
DDBENCH_WIDEST_VECTORS
void add_to(const Bfloat16* x, std::int64_t elements, Bfloat16* y) {
  add_loop(x, elements, y);
}
DDBENCH_WIDEST_VECTORS
void add_to(const Bfloat16* x, std::int64_t elements, float* y) {
  add_loop(x, elements, y);
}

template <typename T>
[[gnu::always_inline]] inline void cut_loop(const T* __restrict y, std::int64_t elements, T* __restrict dy) {
  for (std::int64_t i = 0; i < elements; ++i) {
    store(dy, i, load(y, i) <= 0.0F ? 0.0F : load(dy, i));
  }
}

DDBENCH_WIDEST_VECTORS
void cut_off(const float* y, std::int64_t elements, float* dy) {
  cut_loop(y, elements, dy);
}
DDBENCH_WIDEST_VECTORS
void cut_off(const Bfloat16* y, std::int64_t elements, Bfloat16* dy) {
  cut_loop(y, elements, dy);
}

struct ValueAndSlope {
  float value;
  float slope;
};

constexpr float kRootTwoOverPi = 0.797884560802865356F;
constexpr float kCubic = 0.044715F;

[[gnu::always_inline]] inline ValueAndSlope gelu_tanh(float x) {
  const float inner = kRootTwoOverPi * (x + kCubic * x * x * x);
  const float tanh = 1.0F - 2.0F / (exponential(2.0F * inner) + 1.0F);
  const float inner_slope = kRootTwoOverPi * (1.0F + 3.0F * kCubic * x * x);
  return {0.5F * x * (1.0F + tanh), 0.5F * (1.0F + tanh) + 0.5F * x * (1.0F - tanh * tanh) * inner_slope};
}

/// erf by formula 7.1.26 of Abramowitz and Stegun: off by 1.5e-7 at most.
[[gnu::always_inline]] inline ValueAndSlope gelu_erf(float x) {
  constexpr float kInverseRoot2 = 0.707106781186547524F;
  constexpr float kInverseRoot2Pi = 0.398942280401432678F;
  const float z = std::fabs(x) * kInverseRoot2;
  const float t = 1.0F / (1.0F + 0.3275911F * z);
  const float bell = exponential(-z * z);
  float p = 1.061405429F;
  p = p * t - 1.453152027F;
  p = p * t + 1.421413741F;
  p = p * t - 0.284496736F;
  p = p * t + 0.254829592F;
  const float upper = 0.5F * p * t * bell;  // 1 - Phi(|x|)
  const float phi = x > 0.0F ? 1.0F - upper : upper;
  return {x * phi, phi + x * kInverseRoot2Pi * bell};
}

[[gnu::always_inline]] inline void gelu_loop(Gelu form, const float* __restrict x, std::int64_t elements,
                                             float* __restrict y) {
  if (form == Gelu::kErf) {
    for (std::int64_t i = 0; i < elements; ++i) y[i] = gelu_erf(x[i]).value;
  } else {
    for (std::int64_t i = 0; i < elements; ++i) y[i] = gelu_tanh(x[i]).value;
  }
}

DDBENCH_WIDEST_VECTORS
void gelu(Gelu form, const float* x, std::int64_t elements, float* y) {
  gelu_loop(form, x, elements, y);
}
DDBENCH_WIDEST_VECTORS
void gelu(Gelu form, const Bfloat16* x, std::int64_t elements, Bfloat16* y) {
  float in[kBlockNumbers];
  float out[kBlockNumbers];
  for (std::int64_t first = 0; first < elements; first += kBlockNumbers) {
    const std::int64_t count = std::min(kBlockNumbers, elements - first);
    load_block(x + first, count, in);
    gelu_loop(form, in, count, out);
    store_block(out, count, y + first);
  }
}

/// dx may be dy.
[[gnu::always_inline]] inline void gelu_slope_loop(Gelu form, const float* x, std::int64_t elements,
                                                   const float* dy, float* dx) {
  if (form == Gelu::kErf) {
    for (std::int64_t i = 0; i < elements; ++i) dx[i] = dy[i] * gelu_erf(x[i]).slope;
  } else {
    for (std::int64_t i = 0; i < elements; ++i) dx[i] = dy[i] * gelu_tanh(x[i]).slope;
  }
}

DDBENCH_WIDEST_VECTORS
void gelu_slope(Gelu form, const float* x, std::int64_t elements, const float* dy, float* dx) {
  gelu_slope_loop(form, x, elements, dy, dx);
}
DDBENCH_WIDEST_VECTORS
void gelu_slope(Gelu form, const Bfloat16* x, std::int64_t elements, const Bfloat16* dy, Bfloat16* dx) {
  float in[kBlockNumbers];
  float gradient[kBlockNumbers];
  for (std::int64_t first = 0; first < elements; first += kBlockNumbers) {
    const std::int64_t count = std::min(kBlockNumbers, elements - first);
    load_block(x + first, count, in);
    load_block(dy + first, count, gradient);
    gelu_slope_loop(form, in, count, gradient, gradient);
    store_block(gradient, count, dx + first);
  }
}

const std::int32_t* checked_indices(const char* operation, const Tensor& indices, std::int64_t rows) {
  const auto* const index = static_cast<const std::int32_t*>(indices.data);
  for (std::int64_t i = 0; i < indices.rows; ++i) {
    if (index[i] >= 0 && index[i] < rows) continue;
    throw Error(ErrorCode::kBadInput,
                fmt::format("{}: index {} is {}, but the table has {} rows", operation, i, index[i], rows), 0,
                operation);
  }
  return index;
}

}  // namespace

void CpuDevice::add(const Tensor& x, const Tensor& y) {
  expect("add", {{"x", x, x.rows, x.columns, x.type}, {"y", y, x.rows, x.columns, x.type}});
  with_elements(
      "add", [&](const auto* in, auto* sum) { add_to(in, x.elements(), sum); }, x, y);
}

void CpuDevice::relu_backward(const Tensor& y, const Tensor& dy) {
  expect("relu_backward", {{"y", y, y.rows, y.columns, y.type}, {"dy", dy, y.rows, y.columns, y.type}});
  with_elements(
      "relu_backward", [&](const auto* out, auto* gradient) { cut_off(out, y.elements(), gradient); }, y, dy);
}

void CpuDevice::gelu_forward(Gelu form, const Tensor& x, const Tensor& y) {
  expect("gelu_forward", {{"x", x, x.rows, x.columns, x.type}, {"y", y, x.rows, x.columns, x.type}});
  with_elements(
      "gelu_forward", [&](const auto* in, auto* out) { gelu(form, in, x.elements(), out); }, x, y);
}

void CpuDevice::gelu_backward(Gelu form, const Tensor& x, const Tensor& dy, const Tensor& dx) {
  expect("gelu_backward", {{"x", x, x.rows, x.columns, x.type},
                           {"dy", dy, x.rows, x.columns, x.type},
                           {"dx", dx, x.rows, x.columns, x.type}});
  with_elements(
      "gelu_backward",
      [&](const auto* in, const auto* gradient, auto* out) {
        gelu_slope(form, in, x.elements(), gradient, out);
      },
      x, dy, dx);
}

void CpuDevice::gather_rows(const Tensor& table, const Tensor& indices, GradientWrite write,
                            const Tensor& y) {
  expect("gather_rows", {{"table", table, table.rows, y.columns, y.type},
                         {"indices", indices, y.rows, 1, DataType::kInt32},
                         {"y", y, y.rows, y.columns, y.type}});
  const std::int32_t* const index = checked_indices("gather_rows", indices, table.rows);
  with_elements(
      "gather_rows",
      [&](const auto* from, auto* to) {
        for (std::int64_t i = 0; i < y.rows; ++i) {
          const auto* const row = from + index[i] * y.columns;
          auto* const out = to + i * y.columns;
          if (write == GradientWrite::kAccumulate) {
            add_to(row, y.columns, out);
          } else {
            std::copy_n(row, y.columns, out);
          }
        }
      },
      table, y);
}

void CpuDevice::scatter_add_rows(const Tensor& dy, const Tensor& indices, GradientWrite write,
                                 const Tensor& dtable) {
  expect("scatter_add_rows", {{"dy", dy, dy.rows, dy.columns, dy.type},
                              {"indices", indices, dy.rows, 1, DataType::kInt32},
                              {"dtable", dtable, dtable.rows, dy.columns}});
  const std::int32_t* const index = checked_indices("scatter_add_rows", indices, dtable.rows);
  if (write == GradientWrite::kOverwrite) fill(dtable, 0);
  with_elements(
      "scatter_add_rows",
      [&](const auto* from) {
        for (std::int64_t i = 0; i < dy.rows; ++i) {
          add_to(from + i * dy.columns, dy.columns, floats(dtable) + index[i] * dy.columns);
        }
      },
      dy);
}

}  // namespace ddbench::device::cpu
