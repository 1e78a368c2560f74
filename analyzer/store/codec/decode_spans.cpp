#include "analyzer/store/codec/chunk_bytes.h"
#include "analyzer/store/codec/chunk_layout.h"
#include "analyzer/store/codec/segment_decoder.h"
#include "analyzer/store/codec/span_codec.h"

namespace ddbench::store {
namespace {

constexpr std::string_view kHeader = "header";

// Returns the number of spans that the header announces.
std::uint64_t check_header(std::span<const std::byte> chunk) {
  if (chunk.size() < kChunkHeaderBytes + kChunkTailBytes)
    throw_damaged_chunk(kHeader, "the chunk is cut short");
  if (load_u64(chunk.data()) != kChunkMagic) throw_damaged_chunk(kHeader, "it does not begin with DSC1");
  if (load_u64(chunk.data() + 16) != chunk.size())
    throw_damaged_chunk(kHeader, "the chunk is not as long as it says");
  if (load_u64(chunk.data() + kChecksumOffset) != chunk_checksum(chunk)) {
    throw_damaged_chunk("checksum", "it does not fit the bytes");
  }
  return load_u64(chunk.data() + 8);
}

}  // namespace

void decode_spans_onto(std::span<const std::byte> chunk, std::vector<Span>& out, std::size_t most) {
  const std::uint64_t count = check_header(chunk);
  if (count > most) throw_damaged_chunk(kHeader, "it says that it has more spans than are stored in one");
  const std::size_t old_size = out.size();
  ByteReader reader(chunk.subspan(kChunkHeaderBytes, chunk.size() - kChunkHeaderBytes - kChunkTailBytes));
  SegmentDecoder decoder;
  try {
    while (reader.remaining() > 0) {
      decoder.append(reader, out);
      if (out.size() - old_size > count) throw_damaged_chunk(kHeader, "there are more spans than it says");
    }
    if (out.size() - old_size != count) throw_damaged_chunk(kHeader, "there are fewer spans than it says");
  } catch (...) {
    out.resize(old_size);
    throw;
  }
}

std::vector<Span> decode_spans(std::span<const std::byte> chunk) {
  std::vector<Span> spans;
  decode_spans_onto(chunk, spans);
  return spans;
}

}  // namespace ddbench::store
