#pragma once

#include <bit>
#include <cstdint>

/// How the loops over activations read and write their elements: `float`, or bfloat16 as its 16 bits; they
/// compute in float.
namespace ddbench::device::cpu {

using Bfloat16 = std::uint16_t;

inline float load(const float* values, std::int64_t i) {
  return values[i];
}
inline float load(const Bfloat16* values, std::int64_t i) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(values[i]) << 16);
}

inline void store(float* values, std::int64_t i, float value) {
  values[i] = value;
}
/// Rounds to nearest even; NaN stays one.
inline void store(Bfloat16* values, std::int64_t i, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = bits + 0x7FFFU + ((bits >> 16) & 1U);
  const std::uint32_t kept = (bits & 0x7FFFFFFFU) > 0x7F800000U ? bits | 0x400000U : rounded;
  values[i] = static_cast<Bfloat16>(kept >> 16);
}

/// e^x within 2 units in the last place (Cephes' expf without its branches, so that loops become vectors); 0
/// or infinity is never reached: below -87.3 it stays at 1.2e-38, above 88 at 1.7e38.
inline float exponential(float x) {
  constexpr float kLog2E = 1.44269504088896341F;
  constexpr float kRoundToInteger = 12582912.0F;  // 1.5 * 2^23: adding it drops the fraction
  x = x < -87.3F ? -87.3F : x;
  x = x > 88.0F ? 88.0F : x;
  const float rounded = x * kLog2E + kRoundToInteger;
  const float whole = rounded - kRoundToInteger;
  const float rest = (x - whole * 0.693359375F) - whole * -2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * rest + 1.3981999507e-3F;
  p = p * rest + 8.3334519073e-3F;
  p = p * rest + 4.1665795894e-2F;
  p = p * rest + 1.6666665459e-1F;
  p = p * rest + 5.0000001201e-1F;
  p = p * (rest * rest) + rest + 1.0F;
  // The last bits of the rounded number are the integer: defined for NaN too, unlike a conversion.
  const std::uint32_t power = (std::bit_cast<std::uint32_t>(rounded) << 23) + (127U << 23);
  return p * std::bit_cast<float>(power);
}

/// Loops over bfloat16 that compute an exponential become vectors only when converting is a loop of its own:
/// they go through float this many numbers at a time.
inline constexpr std::int64_t kBlockNumbers = 512;

[[gnu::always_inline]] inline void load_block(const Bfloat16* __restrict values, std::int64_t count,
                                              float* __restrict block) {
  for (std::int64_t i = 0; i < count; ++i) block[i] = load(values, i);
}
[[gnu::always_inline]] inline void store_block(const float* __restrict block, std::int64_t count,
                                               Bfloat16* __restrict values) {
  for (std::int64_t i = 0; i < count; ++i) store(values, i, block[i]);
}

/// Number of lanes of a sum, added at the end: additions to one sum depend on each other, and the compiler
/// must not reorder them; with fixed lanes every instruction set gives the same bits.
inline constexpr std::int64_t kLanes = 16;

inline float sum_of(const float (&lanes)[kLanes]) {
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  return sum;
}

}  // namespace ddbench::device::cpu
