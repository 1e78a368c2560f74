#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/store/codec/chunk_layout.h"
#include "core/span.h"

namespace ddbench::store {

/// Packs segments of up to kSegmentSpans spans (FORMAT.md, "Packed segments"). Keeps its buffers between
/// segments.
class SegmentEncoder {
 public:
  SegmentEncoder();

  /// Appends the segment to `chunk`. False, with `chunk` as it was, when packing would not make it smaller.
  bool append(std::span<const Span> spans, std::vector<std::byte>& chunk);

 private:
  /// What spans of one tag share, and what their columns are counted from.
  struct Tag {
    Span example;  // the first span of the tag
    std::uint32_t slot = 0;
    std::uint32_t first_index = 0;
    std::uint32_t count = 0;
    std::uint16_t likely_next =
        0;  // the tag that followed last time: steps repeat, so it nearly always does again
    std::uint64_t last_step = 0;
    std::uint64_t last_correlation = 0;
    std::array<std::int64_t, kColumnCount> low;
    std::array<std::int64_t, kColumnCount> high;
    std::array<unsigned, kColumnCount> width;
  };

  bool assign_tags(std::span<const Span> spans, bool bytes_in_tag);
  std::size_t find_or_add_tag(const Span& span, std::uint32_t index, bool bytes_in_tag);
  std::uint32_t slot_of(const Span& span);
  void compute_columns(std::span<const Span> spans);
  void choose_widths();
  std::size_t packed_bits() const;
  void write_table(std::size_t count, std::vector<std::byte>& chunk) const;
  void write_tag_column(std::vector<std::byte>& chunk) const;
  void write_column(Column column, std::vector<std::byte>& chunk) const;

  std::vector<Tag> tags_;
  std::vector<std::uint16_t> hash_table_;  // tag index + 1; 0 is free
  std::vector<std::uint16_t> tag_of_span_;
  std::vector<std::int64_t> slot_start_;
  std::array<std::uint16_t, kMaxSlots> slot_of_lane_;  // slot index + 1; 0 is free
  std::array<std::vector<std::int64_t>, kColumnCount> values_;
};

}  // namespace ddbench::store
