#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ddbench::store {

/// Throws Error{kRunFailed} stating which column of a chunk is damaged, and how.
[[noreturn]] void throw_damaged_chunk(std::string_view column, std::string_view how);

/// Reads a chunk front to back; running over its end is throw_damaged_chunk with the column being read.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  /// Unsigned LEB128.
  std::uint64_t varint(std::string_view column);
  std::uint8_t byte(std::string_view column);
  /// The next `count` bytes, skipped.
  const std::byte* take(std::uint64_t count, std::string_view column);
  std::size_t remaining() const noexcept { return bytes_.size() - at_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

void append_varint(std::vector<std::byte>& bytes, std::uint64_t value);

}  // namespace ddbench::store
