#include "probes/recorder/spool_format.h"

#include <cstring>

namespace ddbench::host {
namespace {

constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15ULL;  // 2^64 / golden ratio
constexpr std::size_t kLanes = 4;
constexpr std::size_t kBlockBytes = kLanes * sizeof(std::uint64_t);

void mix_block(std::array<std::uint64_t, kLanes>& lanes, const char* block) noexcept {
  std::array<std::uint64_t, kLanes> words;
  std::memcpy(words.data(), block, kBlockBytes);
  for (std::size_t i = 0; i < kLanes; ++i) lanes[i] = std::rotl(lanes[i] ^ words[i], 29) * kOdd;
}

}  // namespace

std::uint64_t spool_checksum(const void* data, std::size_t bytes) noexcept {
  const char* at = static_cast<const char*>(data);
  std::array<std::uint64_t, kLanes> lanes = {kOdd, 2 * kOdd, 3 * kOdd, 4 * kOdd};
  std::size_t left = bytes;
  for (; left >= kBlockBytes; left -= kBlockBytes, at += kBlockBytes) mix_block(lanes, at);
  if (left > 0) {
    std::array<char, kBlockBytes> padded{};
    std::memcpy(padded.data(), at, left);
    mix_block(lanes, padded.data());
  }
  std::uint64_t hash = bytes;
  for (const std::uint64_t lane : lanes) {
    hash = (hash ^ lane) * kOdd;
    hash ^= hash >> 32;
  }
  return hash;
}

std::uint32_t header_checksum(const FrameHeader& header) noexcept {
  FrameHeader covered = header;
  covered.header_check = 0;
  return static_cast<std::uint32_t>(spool_checksum(&covered, sizeof(covered)));
}

}  // namespace ddbench::host
