#pragma once

#include <random>

#include "harness/launch/control/messages.h"

namespace ddbench::launch {

/// What rank `rank` sends as its piece `chunk`: bytes that packing makes no shorter.
inline collective::Bytes sent_bytes(int rank, int chunk) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank) << 32 | static_cast<std::uint64_t>(chunk));
  collective::Bytes bytes(FileChunk::kMostBytes);
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    const std::uint64_t word = random();
    for (std::size_t byte = 0; byte < 8; ++byte) bytes[i + byte] = static_cast<char>(word >> (8 * byte));
  }
  return bytes;
}

}  // namespace ddbench::launch
