#include "analyzer/store/codec/segment_encoder.h"

#include <algorithm>

#include "analyzer/store/codec/bit_writer.h"
#include "analyzer/store/codec/chunk_bytes.h"

namespace ddbench::store {
namespace {

constexpr std::size_t kHashSlots = 2 * kMaxTags;

// Times may be any bits: differences wrap instead of overflowing, and adding them back wraps to the same
// bits.
constexpr std::int64_t wrapping_difference(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

bool same_tag(const Span& a, const Span& b, bool bytes_in_tag) noexcept {
  return a.name_id == b.name_id && a.kind == b.kind && a.lane == b.lane && a.bucket == b.bucket &&
         a.reserved == b.reserved && (!bytes_in_tag || a.bytes == b.bytes);
}

std::size_t hash_of(const Span& span, bool bytes_in_tag) noexcept {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  std::uint64_t hash = (span.name_id | static_cast<std::uint64_t>(span.reserved) << 32) * kOdd;
  hash = std::rotl(hash, 31) ^
         (static_cast<std::uint64_t>(span.kind) | static_cast<std::uint64_t>(span.lane) << 8 |
          static_cast<std::uint64_t>(span.bucket) << 16);
  hash *= kOdd;
  if (bytes_in_tag) hash = (std::rotl(hash, 31) ^ span.bytes) * kOdd;
  return static_cast<std::size_t>(hash >> 40) % kHashSlots;
}

}  // namespace

SegmentEncoder::SegmentEncoder() : hash_table_(kHashSlots) {}

bool SegmentEncoder::append(std::span<const Span> spans, std::vector<std::byte>& chunk) {
  if (!assign_tags(spans, true) && !assign_tags(spans, false)) return false;
  compute_columns(spans);
  choose_widths();
  const std::size_t old_size = chunk.size();
  write_table(spans.size(), chunk);
  if (chunk.size() - old_size + packed_bits() / 8 >= spans.size() * kRawSpanBytes) {
    chunk.resize(old_size);
    return false;
  }
  write_tag_column(chunk);
  for (std::size_t column = 0; column < kColumnCount; ++column)
    write_column(static_cast<Column>(column), chunk);
  return true;
}

// False when there are too many different tags for a table to pay.
bool SegmentEncoder::assign_tags(std::span<const Span> spans, bool bytes_in_tag) {
  tags_.clear();
  slot_start_.clear();
  std::fill(hash_table_.begin(), hash_table_.end(), std::uint16_t{0});
  slot_of_lane_.fill(0);
  tag_of_span_.resize(spans.size());
  const std::size_t most_tags =
      std::min(kMaxTags, bytes_in_tag ? 64 + spans.size() / 16 : 64 + spans.size() / 2);
  std::size_t previous = 0;
  for (std::uint32_t index = 0; index < spans.size(); ++index) {
    const Span& span = spans[index];
    std::size_t tag = tags_.empty() ? 0 : tags_[previous].likely_next;
    if (tags_.empty() || !same_tag(tags_[tag].example, span, bytes_in_tag)) {
      tag = find_or_add_tag(span, index, bytes_in_tag);
      if (tags_.size() > most_tags) return false;
      tags_[previous].likely_next = static_cast<std::uint16_t>(tag);
    }
    ++tags_[tag].count;
    tag_of_span_[index] = static_cast<std::uint16_t>(tag);
    previous = tag;
  }
  return true;
}

std::size_t SegmentEncoder::find_or_add_tag(const Span& span, std::uint32_t index, bool bytes_in_tag) {
  std::size_t at = hash_of(span, bytes_in_tag);
  while (hash_table_[at] != 0) {
    const std::size_t tag = hash_table_[at] - 1u;
    if (same_tag(tags_[tag].example, span, bytes_in_tag)) return tag;
    at = (at + 1) % kHashSlots;
  }
  Tag tag;
  tag.example = span;
  tag.slot = slot_of(span);
  tag.first_index = index;
  tag.last_step = span.step;
  tag.last_correlation = span.correlation;
  tag.low.fill(std::numeric_limits<std::int64_t>::max());
  tag.high.fill(std::numeric_limits<std::int64_t>::min());
  tags_.push_back(tag);
  hash_table_[at] = static_cast<std::uint16_t>(tags_.size());
  return tags_.size() - 1;
}

// A begin is counted from the end of the span before it in its slot. Steps have slots of their own: they
// follow one another without a gap, while the last span of their lane ends where they do.
std::uint32_t SegmentEncoder::slot_of(const Span& span) {
  std::uint16_t& slot =
      slot_of_lane_[2 * static_cast<std::size_t>(span.lane) + (span.kind == SpanKind::kStep)];
  if (slot == 0) {
    slot_start_.push_back(span.begin_ns);
    slot = static_cast<std::uint16_t>(slot_start_.size());
  }
  return slot - 1u;
}

void SegmentEncoder::compute_columns(std::span<const Span> spans) {
  std::array<std::int64_t, kMaxSlots> last_end;
  std::copy(slot_start_.begin(), slot_start_.end(), last_end.begin());
  for (auto& column : values_) column.resize(spans.size());
  for (std::size_t index = 0; index < spans.size(); ++index) {
    const Span& span = spans[index];
    Tag& tag = tags_[tag_of_span_[index]];
    const std::array<std::int64_t, kColumnCount> values = {
        wrapping_difference(span.begin_ns, last_end[tag.slot]),
        wrapping_difference(span.end_ns, span.begin_ns), static_cast<std::int64_t>(span.step - tag.last_step),
        static_cast<std::int64_t>(span.correlation - tag.last_correlation),
        static_cast<std::int64_t>(span.bytes)};
    last_end[tag.slot] = span.end_ns;
    tag.last_step = span.step;
    tag.last_correlation = span.correlation;
    const bool first = index == tag.first_index;
    for (std::size_t column = 0; column < kColumnCount; ++column) {
      values_[column][index] = values[column];
      // The first step and correlation of a tag stand in the table; what is counted here are the differences.
      if (first && (column == kStepDelta || column == kCorrelation)) continue;
      tag.low[column] = std::min(tag.low[column], values[column]);
      tag.high[column] = std::max(tag.high[column], values[column]);
    }
  }
}

void SegmentEncoder::choose_widths() {
  for (Tag& tag : tags_) {
    for (std::size_t column = 0; column < kColumnCount; ++column) {
      if (tag.low[column] > tag.high[column]) tag.low[column] = tag.high[column] = 0;
      tag.width[column] = static_cast<unsigned>(
          std::bit_width(static_cast<std::uint64_t>(wrapping_difference(tag.high[column], tag.low[column]))));
    }
    values_[kStepDelta][tag.first_index] = tag.low[kStepDelta];
    values_[kCorrelation][tag.first_index] = tag.low[kCorrelation];
  }
}

std::size_t SegmentEncoder::packed_bits() const {
  std::size_t bits = tag_of_span_.size() * std::bit_width(tags_.size() - 1);
  for (const Tag& tag : tags_) {
    for (const unsigned width : tag.width) bits += static_cast<std::size_t>(width) * tag.count;
  }
  return bits;
}

void SegmentEncoder::write_table(std::size_t count, std::vector<std::byte>& chunk) const {
  chunk.push_back(std::byte{kPackedSegment});
  append_varint(chunk, count);
  append_varint(chunk, slot_start_.size());
  for (const std::int64_t start : slot_start_)
    append_varint(chunk, zigzag(static_cast<std::uint64_t>(start)));
  append_varint(chunk, tags_.size());
  for (const Tag& tag : tags_) {
    const Span& example = tag.example;
    append_varint(chunk, example.name_id);
    chunk.push_back(static_cast<std::byte>(example.kind));
    chunk.push_back(static_cast<std::byte>(example.lane));
    append_varint(chunk, example.bucket);
    append_varint(chunk, example.reserved);
    append_varint(chunk, tag.slot);
    append_varint(chunk, example.step);
    append_varint(chunk, example.correlation);
    for (std::size_t column = 0; column < kColumnCount; ++column) {
      chunk.push_back(static_cast<std::byte>(tag.width[column]));
      append_varint(chunk, zigzag(static_cast<std::uint64_t>(tag.low[column])));
    }
  }
}

void SegmentEncoder::write_tag_column(std::vector<std::byte>& chunk) const {
  const auto width = static_cast<unsigned>(std::bit_width(tags_.size() - 1));
  BitWriter writer(chunk, static_cast<std::size_t>(width) * tag_of_span_.size());
  for (const std::uint16_t tag : tag_of_span_) writer.write(tag, width);
}

void SegmentEncoder::write_column(Column column, std::vector<std::byte>& chunk) const {
  std::size_t bits = 0;
  for (const Tag& tag : tags_) bits += static_cast<std::size_t>(tag.width[column]) * tag.count;
  if (bits == 0) return;
  struct Field {
    std::uint64_t low;
    unsigned width;
  };
  std::array<Field, kMaxTags> fields;  // packed tightly: the loop below reads nothing else of a tag
  for (std::size_t tag = 0; tag < tags_.size(); ++tag) {
    fields[tag] = {static_cast<std::uint64_t>(tags_[tag].low[column]), tags_[tag].width[column]};
  }
  BitWriter writer(chunk, bits);
  const std::int64_t* values = values_[column].data();
  for (std::size_t index = 0; index < tag_of_span_.size(); ++index) {
    const Field& field = fields[tag_of_span_[index]];
    writer.write(static_cast<std::uint64_t>(values[index]) - field.low, field.width);
  }
}

}  // namespace ddbench::store
