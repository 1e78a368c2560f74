#include "chunk_layout.h"

namespace ddbench::store {
namespace {

constexpr std::uint64_t kMultiplier =
    0x9E3779B97F4A7C15;  // 2^64 / golden ratio: odd, so multiplying loses nothing

// A bijection of `state` for each word and of `word` for each state: one changed word always changes the
// result.
constexpr std::uint64_t mix(std::uint64_t state, std::uint64_t word) noexcept {
  return std::rotl((state ^ word) * kMultiplier, 29);
}

std::uint64_t tail_word(std::span<const std::byte> tail) noexcept {
  std::array<std::byte, 8> padded{};
  std::memcpy(padded.data(), tail.data(), tail.size());
  return load_u64(padded.data());
}

}  // namespace

std::uint64_t chunk_checksum(std::span<const std::byte> chunk) noexcept {
  // Four lanes, because one would wait for its multiplication at every word.
  std::array<std::uint64_t, 4> lanes = {1, 2, 3, 4};
  for (std::size_t word = 0; word < kChecksumOffset / 8; ++word) {
    lanes[word] = mix(lanes[word], load_u64(chunk.data() + 8 * word));
  }
  std::size_t at = kChunkHeaderBytes;
  for (; at + 32 <= chunk.size(); at += 32) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      lanes[lane] = mix(lanes[lane], load_u64(chunk.data() + at + 8 * lane));
    }
  }
  std::size_t lane = 0;
  for (; at + 8 <= chunk.size(); at += 8, ++lane) lanes[lane] = mix(lanes[lane], load_u64(chunk.data() + at));
  if (at < chunk.size()) lanes[lane] = mix(lanes[lane], tail_word(chunk.subspan(at)));

  std::uint64_t sum = chunk.size();
  for (const std::uint64_t state : lanes) sum = mix(sum, state);
  return mix(sum, sum >> 32);
}

}  // namespace ddbench::store
