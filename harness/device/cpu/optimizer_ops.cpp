// What optimizers and gradient reduction are made of: one pass over memory each.
#include <bit>
#include <cmath>
#include <cstddef>
#include <utility>

#include "harness/device/cpu/cpu_device.h"
#include "harness/device/cpu/expect.h"
#include "harness/device/cpu/widest_vectors.h"

namespace ddbench::device::cpu {
namespace {

DDBENCH_WIDEST_VECTORS
void sgd_loop(float* __restrict parameter, const float* __restrict gradient, float* __restrict velocity,
              std::int64_t elements, SgdSettings settings) {
  for (std::int64_t i = 0; i < elements; ++i) {
    const float decayed = gradient[i] + settings.weight_decay * parameter[i];
    const float moved = settings.momentum * velocity[i] + settings.trust_ratio * decayed;
    velocity[i] = moved;
    parameter[i] -= settings.lr * moved;
  }
}

DDBENCH_WIDEST_VECTORS
void adamw_loop(float* __restrict parameter, const float* __restrict gradient, float* __restrict m,
                float* __restrict v, std::int64_t elements, AdamSettings settings, float lr) {
  const float keep = 1.0F - lr * settings.weight_decay;
  const float step = lr / settings.correction1;
  const float root = 1.0F / std::sqrt(settings.correction2);
  for (std::int64_t i = 0; i < elements; ++i) {
    m[i] = settings.beta1 * m[i] + (1.0F - settings.beta1) * gradient[i];
    v[i] = settings.beta2 * v[i] + (1.0F - settings.beta2) * gradient[i] * gradient[i];
    parameter[i] = parameter[i] * keep - step * m[i] / (std::sqrt(v[i]) * root + settings.epsilon);
  }
}

DDBENCH_WIDEST_VECTORS
void lamb_loop(const float* __restrict parameter, float* __restrict gradient, float* __restrict m,
               float* __restrict v, std::int64_t elements, AdamSettings settings) {
  const float scale1 = 1.0F / settings.correction1;
  const float root = 1.0F / std::sqrt(settings.correction2);
  for (std::int64_t i = 0; i < elements; ++i) {
    m[i] = settings.beta1 * m[i] + (1.0F - settings.beta1) * gradient[i];
    v[i] = settings.beta2 * v[i] + (1.0F - settings.beta2) * gradient[i] * gradient[i];
    const float direction = m[i] * scale1 / (std::sqrt(v[i]) * root + settings.epsilon);
    gradient[i] = direction + settings.weight_decay * parameter[i];
  }
}

DDBENCH_WIDEST_VECTORS
void add_loop(const float* __restrict source, float factor, float* __restrict destination,
              std::int64_t elements) {
  for (std::int64_t i = 0; i < elements; ++i) destination[i] += factor * source[i];
}

// Sixteen sums of their own: additions of one sum wait for each other, and must not be reordered by the
// compiler, so that every instruction set gives the same bits.
constexpr std::int64_t kSums = 16;

DDBENCH_WIDEST_VECTORS
double square_sum(const float* values, std::int64_t elements) {
  double sums[kSums] = {};
  const std::int64_t whole = elements / kSums * kSums;
  for (std::int64_t i = 0; i < whole; i += kSums) {
    for (std::int64_t lane = 0; lane < kSums; ++lane) {
      const double value = values[i + lane];
      sums[lane] += value * value;
    }
  }
  double total = 0;
  for (const double sum : sums) total += sum;
  for (std::int64_t i = whole; i < elements; ++i) {
    total += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }
  return total;
}

inline std::uint16_t bfloat16_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = bits + 0x7FFFU + ((bits >> 16) & 1U);
  // NaN stays one: rounding its bits up could make it infinity.
  const std::uint32_t kept = (bits & 0x7FFFFFFFU) > 0x7F800000U ? bits | 0x400000U : rounded;
  return static_cast<std::uint16_t>(kept >> 16);
}

// Selections instead of branches, so that the loop becomes vectors.
inline std::uint16_t float16_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  const std::uint32_t normal = (magnitude - 0x38000000U + 0xFFFU + ((magnitude >> 13) & 1U)) >> 13;
  // Subnormal: adding 0.5 lets the FPU round at the right bit.
  const float shifted = std::bit_cast<float>(magnitude < 0x38800000U ? magnitude : 0U) + 0.5F;
  const std::uint32_t tiny = std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U;
  std::uint32_t half = magnitude < 0x38800000U ? tiny : normal;
  half = magnitude >= 0x477FF000U ? 0x7C00U : half;  // rounds to 65520 or more: infinity
  half = magnitude > 0x7F800000U ? 0x7E00U : half;
  return static_cast<std::uint16_t>(sign | half);
}

inline float from_bfloat16(std::uint16_t half) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

inline float from_float16(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t magnitude = half & 0x7FFFU;
  // The exponent is off by 112. Subnormal: a normal number less its leading one; a product of subnormal floats takes
  // a hundred times as long, and small gradients are full of them.
  const std::uint32_t normal = (magnitude << 13) + 0x38000000U;
  const float above = std::bit_cast<float>((magnitude << 13) + 0x38800000U) - 0x1p-14F;
  const auto finite = magnitude < 0x400U ? std::bit_cast<std::uint32_t>(above) : normal;
  const std::uint32_t special = 0x7F800000U | ((magnitude & 0x3FFU) << 13);
  return std::bit_cast<float>(sign | (magnitude >= 0x7C00U ? special : finite));
}

DDBENCH_WIDEST_VECTORS
void narrow_bfloat16(const float* __restrict source, float factor, std::uint16_t* __restrict destination,
                     std::int64_t elements) {
  for (std::int64_t i = 0; i < elements; ++i) destination[i] = bfloat16_of(factor * source[i]);
}

DDBENCH_WIDEST_VECTORS
void narrow_float16(const float* __restrict source, float factor, std::uint16_t* __restrict destination,
                    std::int64_t elements) {
  for (std::int64_t i = 0; i < elements; ++i) destination[i] = float16_of(factor * source[i]);
}

DDBENCH_WIDEST_VECTORS
void widen_bfloat16(const std::uint16_t* __restrict source, float* __restrict destination,
                    std::int64_t elements) {
  for (std::int64_t i = 0; i < elements; ++i) destination[i] = from_bfloat16(source[i]);
}

DDBENCH_WIDEST_VECTORS
void widen_float16(const std::uint16_t* __restrict source, float* __restrict destination,
                   std::int64_t elements) {
  for (std::int64_t i = 0; i < elements; ++i) destination[i] = from_float16(source[i]);
}

std::uint16_t* halves(const Tensor& tensor) {
  return static_cast<std::uint16_t*>(tensor.data);
}

}  // namespace

void CpuDevice::sgd(const Tensor& parameter, const Tensor& gradient, const Tensor& velocity,
                    const SgdSettings& settings) {
  expect_alike("sgd", {{"parameter", parameter}, {"gradient", gradient}, {"velocity", velocity}});
  sgd_loop(floats(parameter), floats(gradient), floats(velocity), parameter.elements(), settings);
}

void CpuDevice::adamw(const Tensor& parameter, const Tensor& gradient, const Tensor& m, const Tensor& v,
                      const AdamSettings& settings, float lr) {
  expect_alike("adamw", {{"parameter", parameter}, {"gradient", gradient}, {"m", m}, {"v", v}});
  adamw_loop(floats(parameter), floats(gradient), floats(m), floats(v), parameter.elements(), settings, lr);
}

void CpuDevice::lamb_direction(const Tensor& parameter, const Tensor& gradient, const Tensor& m,
                               const Tensor& v, const AdamSettings& settings) {
  expect_alike("lamb_direction", {{"parameter", parameter}, {"gradient", gradient}, {"m", m}, {"v", v}});
  lamb_loop(floats(parameter), floats(gradient), floats(m), floats(v), parameter.elements(), settings);
}

void CpuDevice::add_scaled(const Tensor& source, float factor, const Tensor& destination) {
  expect_alike("add_scaled", {{"source", source}, {"destination", destination}});
  add_loop(floats(source), factor, floats(destination), source.elements());
}

void CpuDevice::add_squared_norm(const Tensor& values) {
  expect_alike("squared_norm", {{"values", values}});
  squares_ += square_sum(floats(values), values.elements());
}

double CpuDevice::take_squared_norm() {
  return std::exchange(squares_, 0.0);
}

void CpuDevice::narrow(const Tensor& source, float factor, const Tensor& destination) {
  expect_alike("narrow", {{"source", source}, {"destination", destination, true}});
  const auto loop = destination.type == DataType::kFloat16 ? narrow_float16 : narrow_bfloat16;
  loop(floats(source), factor, halves(destination), source.elements());
}

void CpuDevice::widen(const Tensor& source, const Tensor& destination) {
  expect_alike("widen", {{"source", source, true}, {"destination", destination}});
  const auto loop = source.type == DataType::kFloat16 ? widen_float16 : widen_bfloat16;
  loop(halves(source), floats(destination), source.elements());
}

}  // namespace ddbench::device::cpu
