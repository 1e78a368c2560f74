#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/store/codec/chunk_bytes.h"
#include "analyzer/store/codec/chunk_layout.h"
#include "core/span.h"

namespace ddbench::store {

/// Unpacks segments. Keeps its buffers between segments.
class SegmentDecoder {
 public:
  /// Reads the segment at `reader` and appends its spans to `out`. At least kChunkTailBytes readable bytes
  /// follow the reader's last byte. Throws as throw_damaged_chunk; `out` then holds any number of spans more.
  void append(ByteReader& reader, std::vector<Span>& out);

 private:
  struct Tag {
    Span prototype;  // with all that the spans of the tag share
    std::array<std::uint64_t, kColumnCount> low;
    std::array<std::uint64_t, kColumnCount> mask;
    std::array<std::uint8_t, kColumnCount> width;
    std::uint16_t slot;
    std::uint64_t step;
    std::uint64_t correlation;
  };
  using Streams = std::array<const std::byte*, kColumnCount>;

  void append_packed(ByteReader& reader, std::size_t count, std::vector<Span>& out);
  void read_slots(ByteReader& reader);
  void read_tags(ByteReader& reader);
  Tag read_tag(ByteReader& reader) const;
  void read_tag_column(ByteReader& reader, std::size_t count);
  Streams find_streams(ByteReader& reader) const;
  template <bool kWide>
  void unpack(const Streams& streams, Span* out) noexcept;

  std::vector<Tag> tags_;
  std::vector<std::uint32_t> spans_of_tag_;
  std::vector<std::uint16_t> tag_of_span_;
  std::array<std::uint64_t, kMaxSlots> last_end_;
  std::size_t slot_count_ = 0;
};

}  // namespace ddbench::store
