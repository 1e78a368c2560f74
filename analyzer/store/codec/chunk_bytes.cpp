#include "analyzer/store/codec/chunk_bytes.h"

#include <fmt/format.h>

#include "core/error.h"

namespace ddbench::store {

void throw_damaged_chunk(std::string_view column, std::string_view how) {
  throw Error(ErrorCode::kRunFailed, fmt::format("a chunk of spans is damaged: {}: {}", column, how), 0,
              "decode spans");
}

std::uint8_t ByteReader::byte(std::string_view column) {
  return static_cast<std::uint8_t>(*take(1, column));
}

std::uint64_t ByteReader::varint(std::string_view column) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint8_t next = byte(column);
    value |= static_cast<std::uint64_t>(next & 0x7F) << shift;
    if ((next & 0x80) == 0) return value;
  }
  throw_damaged_chunk(column, "a number is too long");
}

const std::byte* ByteReader::take(std::uint64_t count, std::string_view column) {
  if (count > remaining()) throw_damaged_chunk(column, "the chunk ends too early");
  const std::byte* start = bytes_.data() + at_;
  at_ += static_cast<std::size_t>(count);
  return start;
}

void append_varint(std::vector<std::byte>& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<std::byte>(value | 0x80));
  bytes.push_back(static_cast<std::byte>(value));
}

}  // namespace ddbench::store
