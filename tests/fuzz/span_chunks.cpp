#include <cstdlib>

#include "analyzer/store/codec/span_codec.h"
#include "analyzer/store/rows/stored_spans.h"
#include "chunk_seal.h"
#include "core/error.h"
#include "fuzz_targets.h"

namespace ddbench::fuzz {
namespace {

void reseal_chunk(std::span<std::uint8_t> input) {
  seal_chunk(std::as_writable_bytes(input));
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
