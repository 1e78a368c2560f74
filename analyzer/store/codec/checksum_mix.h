#pragma once

#include <bit>
#include <cstdint>

namespace ddbench::store {

/// One step of the store's checksums (FORMAT.md). A bijection of `state` for each word and of `word` for each
/// state: one changed word always changes the result.
constexpr std::uint64_t checksum_mix(std::uint64_t state, std::uint64_t word) noexcept {
  // 2^64 / golden ratio: odd, so multiplying loses nothing.
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  return std::rotl((state ^ word) * kMultiplier, 29);
}

}  // namespace ddbench::store
