#include "analyzer/store/codec/checksum_mix.h"
#include "analyzer/store/codec/chunk_layout.h"

namespace ddbench::store {
namespace {

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
    lanes[word] = checksum_mix(lanes[word], load_u64(chunk.data() + 8 * word));
  }
  std::size_t at = kChunkHeaderBytes;
  for (; at + 32 <= chunk.size(); at += 32) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      lanes[lane] = checksum_mix(lanes[lane], load_u64(chunk.data() + at + 8 * lane));
    }
  }
  std::size_t lane = 0;
  for (; at + 8 <= chunk.size(); at += 8, ++lane)
    lanes[lane] = checksum_mix(lanes[lane], load_u64(chunk.data() + at));
  if (at < chunk.size()) lanes[lane] = checksum_mix(lanes[lane], tail_word(chunk.subspan(at)));

  std::uint64_t sum = chunk.size();
  for (const std::uint64_t state : lanes) sum = checksum_mix(sum, state);
  return checksum_mix(sum, sum >> 32);
}

}  // namespace ddbench::store
