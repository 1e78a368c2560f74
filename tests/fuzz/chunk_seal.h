#pragma once

#include <cstddef>
#include <span>

#include "analyzer/store/codec/chunk_layout.h"

namespace ddbench::fuzz {

/// Sets length and checksum of a chunk of spans to what its other bytes need, so that the code behind them is reached.
inline void seal_chunk(std::span<std::byte> chunk) {
  if (chunk.size() < store::kChunkHeaderBytes) return;
  store::store_u64(chunk.data(), store::kChunkMagic);
  store::store_u64(chunk.data() + 16, chunk.size());
  store::store_u64(chunk.data() + store::kChecksumOffset, store::chunk_checksum(chunk));
}

}  // namespace ddbench::fuzz
