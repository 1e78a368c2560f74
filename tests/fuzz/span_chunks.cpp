#include <cstdlib>

#include "analyzer/store/codec/chunk_layout.h"
#include "core/error.h"
#include "analyzer/store/codec/span_codec.h"
#include "fuzz_targets.h"
#include "analyzer/store/rows/stored_spans.h"

namespace ddbench::fuzz {
namespace {

void reseal_chunk(std::span<std::uint8_t> input) {
  const std::span<std::byte> chunk = std::as_writable_bytes(input);
  if (chunk.size() < store::kChunkHeaderBytes) return;
  store::store_u64(chunk.data(), store::kChunkMagic);
  store::store_u64(chunk.data() + 16, chunk.size());
  store::store_u64(chunk.data() + store::kChecksumOffset, store::chunk_checksum(chunk));
}

void decode_chunk(Bytes input) {
  std::vector<Span> spans;
  try {
    store::decode_stored_spans(std::as_bytes(input), spans);
  } catch (const Error&) {
    return;
  }
  if (store::decode_spans(store::encode_spans(spans)) != spans) std::abort();
}

}  // namespace

const Target kSpanChunks{"span_chunks", decode_chunk, reseal_chunk};

}  // namespace ddbench::fuzz
