#include "harness/collective/half_sum.h"

#include <bit>
#include <cstdint>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace ddbench::collective {
namespace {

void sum_float32(void* sum, const void* left, const void* right, std::size_t elements) {
  auto* const out = static_cast<float*>(sum);
  const auto* const a = static_cast<const float*>(left);
  const auto* const b = static_cast<const float*>(right);
  for (std::size_t i = 0; i < elements; ++i) out[i] = a[i] + b[i];
}

float from_bfloat16(std::uint16_t half) {
  return std::bit_cast<float>(std::uint32_t{half} << 16);
}

std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  // NaN stays one: rounding its bits up could make it infinity.
  const bool nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  const std::uint32_t rounded = bits + 0x7FFFU + ((bits >> 16) & 1U);
  return static_cast<std::uint16_t>((nan ? bits | 0x400000U : rounded) >> 16);
}

void sum_bfloat16(void* sum, const void* left, const void* right, std::size_t elements) {
  auto* const out = static_cast<std::uint16_t*>(sum);
  const auto* const a = static_cast<const std::uint16_t*>(left);
  const auto* const b = static_cast<const std::uint16_t*>(right);
  for (std::size_t i = 0; i < elements; ++i) out[i] = to_bfloat16(from_bfloat16(a[i]) + from_bfloat16(b[i]));
}

float from_float16(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t magnitude = half & 0x7FFFU;
  if (magnitude >= 0x7C00U) return std::bit_cast<float>(sign | 0x7F800000U | ((magnitude & 0x3FFU) << 13));
  // The exponent is off by 112; a product puts it right for subnormal numbers too.
  const float value = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

std::uint16_t to_float16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return sign | 0x7E00U;
  if (magnitude >= 0x477FF000U) return sign | 0x7C00U;  // rounds to 65520 or more
  if (magnitude < 0x38800000U) {  // subnormal: adding 0.5 lets the FPU round at the right bit
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return sign | static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U);
  }
  const std::uint32_t rounded = magnitude - 0x38000000U + 0xFFFU + ((magnitude >> 13) & 1U);
  return sign | static_cast<std::uint16_t>(rounded >> 13);
}

void sum_float16_scalar(void* sum, const void* left, const void* right, std::size_t elements) {
  auto* const out = static_cast<std::uint16_t*>(sum);
  const auto* const a = static_cast<const std::uint16_t*>(left);
  const auto* const b = static_cast<const std::uint16_t*>(right);
  for (std::size_t i = 0; i < elements; ++i) out[i] = to_float16(from_float16(a[i]) + from_float16(b[i]));
}

#if defined(__x86_64__)
__attribute__((target("avx,f16c"))) void sum_float16_f16c(void* sum, const void* left, const void* right,
                                                          std::size_t elements) {
  constexpr std::size_t kLanes = 8;
  auto* out = static_cast<std::uint16_t*>(sum);
  const auto* a = static_cast<const std::uint16_t*>(left);
  const auto* b = static_cast<const std::uint16_t*>(right);
  std::size_t i = 0;
  for (; i + kLanes <= elements; i += kLanes) {
    const __m256 wide_a = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a + i)));
    const __m256 wide_b = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b + i)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(_mm256_add_ps(wide_a, wide_b), _MM_FROUND_TO_NEAREST_INT));
  }
  sum_float16_scalar(out + i, a + i, b + i, elements - i);
}

/// clang does not know "f16c" as an argument of __builtin_cpu_supports.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx") != 0 && __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

}  // namespace

SumFunction sum_function(ElementType type) {
  switch (type) {
    case ElementType::kFloat32: return sum_float32;
    case ElementType::kBfloat16: return sum_bfloat16;
    case ElementType::kFloat16: break;
  }
#if defined(__x86_64__)
  if (has_f16c()) return sum_float16_f16c;
#endif
  return sum_float16_scalar;
}

}  // namespace ddbench::collective
