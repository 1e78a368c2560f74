#include "analyzer/store/codec/segment_decoder.h"

#include <algorithm>

namespace ddbench::store {
namespace {

constexpr std::string_view kTable = "table of tags";
constexpr unsigned kNarrow =
    57;  // a field of this width lies within the 8 bytes from its first, wherever it begins

template <bool kWide>
inline std::uint64_t read_bits(const std::byte* stream, std::uint64_t bit, std::uint64_t mask) noexcept {
  const std::byte* at = stream + (bit >> 3);
  const auto shift = static_cast<unsigned>(bit & 7);
  std::uint64_t value = load_u64(at) >> shift;
  if constexpr (kWide) value |= static_cast<std::uint64_t>(at[8]) << 1 << (63 - shift);
  return value & mask;
}

std::uint64_t read_up_to(ByteReader& reader, std::uint64_t most, std::string_view what) {
  const std::uint64_t value = reader.varint(kTable);
  if (value > most) throw_damaged_chunk(kTable, what);
  return value;
}

void append_raw(ByteReader& reader, std::size_t count, std::vector<Span>& out) {
  const std::byte* at = reader.take(count * kRawSpanBytes, "unpacked spans");
  for (std::size_t index = 0; index < count; ++index, at += kRawSpanBytes) {
    Span span;
    span.begin_ns = static_cast<std::int64_t>(load_u64(at));
    span.end_ns = static_cast<std::int64_t>(load_u64(at + 8));
    span.bytes = load_u64(at + 16);
    span.correlation = load_u64(at + 24);
    const std::uint64_t ids = load_u64(at + 32);
    span.name_id = static_cast<std::uint32_t>(ids);
    span.step = static_cast<std::uint32_t>(ids >> 32);
    const std::uint64_t rest = load_u64(at + 40);
    span.kind = static_cast<SpanKind>(rest & 0xFF);
    span.lane = static_cast<Lane>(rest >> 8 & 0xFF);
    span.bucket = static_cast<std::uint16_t>(rest >> 16);
    span.reserved = static_cast<std::uint32_t>(rest >> 32);
    out.push_back(span);
  }
}

}  // namespace

void SegmentDecoder::append(ByteReader& reader, std::vector<Span>& out) {
  const std::uint8_t encoding = reader.byte("segment");
  const std::uint64_t count = reader.varint("segment");
  if (count == 0 || count > kMaxSegmentSpans)
    throw_damaged_chunk("segment", "it cannot hold that many spans");
  if (encoding == kPackedSegment) {
    append_packed(reader, static_cast<std::size_t>(count), out);
  } else if (encoding == kRawSegment) {
    append_raw(reader, static_cast<std::size_t>(count), out);
  } else {
    throw_damaged_chunk("segment", "its encoding is unknown");
  }
}

void SegmentDecoder::append_packed(ByteReader& reader, std::size_t count, std::vector<Span>& out) {
  read_slots(reader);
  read_tags(reader);
  read_tag_column(reader, count);
  const Streams streams = find_streams(reader);
  const bool wide = std::any_of(tags_.begin(), tags_.end(), [](const Tag& tag) {
    return *std::max_element(tag.width.begin(), tag.width.end()) > kNarrow;
  });
  const std::size_t old_size = out.size();
  out.resize(old_size + count);
  if (wide) {
    unpack<true>(streams, out.data() + old_size);
  } else {
    unpack<false>(streams, out.data() + old_size);
  }
}

void SegmentDecoder::read_slots(ByteReader& reader) {
  slot_count_ = static_cast<std::size_t>(read_up_to(reader, kMaxSlots, "too many slots"));
  for (std::size_t slot = 0; slot < slot_count_; ++slot) last_end_[slot] = unzigzag(reader.varint(kTable));
}

void SegmentDecoder::read_tags(ByteReader& reader) {
  const auto count = static_cast<std::size_t>(read_up_to(reader, kMaxTags, "too many tags"));
  if (count == 0) throw_damaged_chunk(kTable, "it is empty");
  tags_.clear();
  for (std::size_t index = 0; index < count; ++index) tags_.push_back(read_tag(reader));
}

SegmentDecoder::Tag SegmentDecoder::read_tag(ByteReader& reader) const {
  Tag tag;
  Span& span = tag.prototype;
  span.name_id = static_cast<std::uint32_t>(read_up_to(reader, UINT32_MAX, "a name id is too large"));
  span.kind = static_cast<SpanKind>(reader.byte(kTable));
  span.lane = static_cast<Lane>(reader.byte(kTable));
  span.bucket = static_cast<std::uint16_t>(read_up_to(reader, UINT16_MAX, "a bucket is too large"));
  span.reserved =
      static_cast<std::uint32_t>(read_up_to(reader, UINT32_MAX, "the reserved field is too large"));
  tag.slot = static_cast<std::uint16_t>(read_up_to(reader, kMaxSlots, "a slot is too large"));
  if (tag.slot >= slot_count_) throw_damaged_chunk(kTable, "a tag names a slot that does not exist");
  tag.step = read_up_to(reader, UINT32_MAX, "a step is too large");
  tag.correlation = reader.varint(kTable);
  for (std::size_t column = 0; column < kColumnCount; ++column) {
    tag.width[column] = reader.byte(kColumnNames[column]);
    if (tag.width[column] > 64) throw_damaged_chunk(kColumnNames[column], "a width is over 64 bits");
    tag.mask[column] = low_bits(tag.width[column]);
    tag.low[column] = unzigzag(reader.varint(kColumnNames[column]));
  }
  // The table holds the first step and correlation, whose stored difference is 0: count from one difference
  // before.
  tag.step -= tag.low[kStepDelta];
  tag.correlation -= tag.low[kCorrelation];
  return tag;
}

void SegmentDecoder::read_tag_column(ByteReader& reader, std::size_t count) {
  const auto width = static_cast<unsigned>(std::bit_width(tags_.size() - 1));
  const std::byte* stream = reader.take((count * width + 7) / 8, "tag");
  const std::uint64_t mask = low_bits(width);
  spans_of_tag_.assign(std::size_t{1} << width, 0);
  tag_of_span_.resize(count);
  for (std::size_t index = 0; index < count; ++index) {
    const auto tag = static_cast<std::uint16_t>(read_bits<false>(stream, index * width, mask));
    tag_of_span_[index] = tag;
    ++spans_of_tag_[tag];
  }
  for (std::size_t tag = tags_.size(); tag < spans_of_tag_.size(); ++tag) {
    if (spans_of_tag_[tag] != 0) throw_damaged_chunk("tag", "a span has a tag that is not in the table");
  }
}

// How long a column is follows from the tags: checking it here lets unpack() read without checks.
SegmentDecoder::Streams SegmentDecoder::find_streams(ByteReader& reader) const {
  Streams streams;
  for (std::size_t column = 0; column < kColumnCount; ++column) {
    std::uint64_t bits = 0;
    for (std::size_t tag = 0; tag < tags_.size(); ++tag) {
      bits += static_cast<std::uint64_t>(spans_of_tag_[tag]) * tags_[tag].width[column];
    }
    streams[column] = reader.take((bits + 7) / 8, kColumnNames[column]);
  }
  return streams;
}

template <bool kWide>
void SegmentDecoder::unpack(const Streams& streams, Span* out) noexcept {
  std::array<std::uint64_t, kColumnCount> bit{};
  const auto next = [&](const Tag& tag, Column column) {
    const std::uint64_t value = read_bits<kWide>(streams[column], bit[column], tag.mask[column]);
    bit[column] += tag.width[column];
    return value + tag.low[column];
  };
  for (const std::uint16_t index : tag_of_span_) {
    Tag& tag = tags_[index];
    const std::uint64_t begin = last_end_[tag.slot] + next(tag, kGap);
    const std::uint64_t end = begin + next(tag, kDuration);
    last_end_[tag.slot] = end;
    tag.step += next(tag, kStepDelta);
    tag.correlation += next(tag, kCorrelation);
    *out = tag.prototype;
    out->begin_ns = static_cast<std::int64_t>(begin);
    out->end_ns = static_cast<std::int64_t>(end);
    out->bytes = next(tag, kBytes);
    out->correlation = tag.correlation;
    out->step = static_cast<std::uint32_t>(tag.step);
    ++out;
  }
}

}  // namespace ddbench::store
