#include <algorithm>
#include <limits>

#include "analyzer/store/codec/chunk_bytes.h"
#include "analyzer/store/codec/chunk_layout.h"
#include "analyzer/store/codec/segment_encoder.h"
#include "analyzer/store/codec/span_codec.h"

namespace ddbench::store {
namespace {

void append_u64(std::vector<std::byte>& bytes, std::uint64_t value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + 8);
  store_u64(bytes.data() + at, value);
}

void append_raw_segment(std::vector<std::byte>& chunk, std::span<const Span> spans) {
  chunk.push_back(std::byte{kRawSegment});
  append_varint(chunk, spans.size());
  for (const Span& span : spans) {
    append_u64(chunk, static_cast<std::uint64_t>(span.begin_ns));
    append_u64(chunk, static_cast<std::uint64_t>(span.end_ns));
    append_u64(chunk, span.bytes);
    append_u64(chunk, span.correlation);
    append_u64(chunk, span.name_id | static_cast<std::uint64_t>(span.step) << 32);
    append_u64(chunk, static_cast<std::uint64_t>(span.kind) | static_cast<std::uint64_t>(span.lane) << 8 |
                          static_cast<std::uint64_t>(span.bucket) << 16 |
                          static_cast<std::uint64_t>(span.reserved) << 32);
  }
}

}  // namespace

std::vector<std::byte> encode_spans(std::span<const Span> spans) {
  std::vector<std::byte> chunk(kChunkHeaderBytes);
  SegmentEncoder encoder;
  for (std::size_t at = 0; at < spans.size(); at += kSegmentSpans) {
    const auto segment = spans.subspan(at, std::min(kSegmentSpans, spans.size() - at));
    if (!encoder.append(segment, chunk)) append_raw_segment(chunk, segment);
  }
  chunk.resize(chunk.size() + kChunkTailBytes);
  store_u64(chunk.data(), kChunkMagic);
  store_u64(chunk.data() + 8, spans.size());
  store_u64(chunk.data() + 16, chunk.size());
  store_u64(chunk.data() + kChecksumOffset, chunk_checksum(chunk));
  return chunk;
}

}  // namespace ddbench::store
