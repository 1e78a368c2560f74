#pragma once

#include <cstdint>

namespace ddbench::workload {

/// One round of SplitMix64's output function (Steele, Lea, Flood 2014): a bijection that mixes all bits.
constexpr std::uint64_t mix_bits(std::uint64_t x) noexcept {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

/// SplitMix64, and distributions of our own: equal seeds give equal numbers with every compiler and standard
/// library. `stream` separates uses of one seed (parameters, data, shuffling) from each other.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) noexcept
      : state_(mix_bits(mix_bits(seed) ^ stream)) {}

  std::uint64_t bits() noexcept {
    const std::uint64_t mixed = mix_bits(state_);
    state_ += 0x9E3779B97F4A7C15ULL;
    return mixed;
  }
  /// In [0, 1), a multiple of 2^-24.
  float uniform() noexcept { return static_cast<float>(bits() >> 40) * 0x1p-24F; }
  float uniform(float low, float high) noexcept { return low + (high - low) * uniform(); }
  /// In [0, bound), bound > 0, without bias (Lemire 2019).
  std::uint64_t below(std::uint64_t bound) noexcept;
  /// Standard normal (Box and Muller 1958).
  float normal() noexcept;

 private:
  std::uint64_t state_;
};

}  // namespace ddbench::workload
