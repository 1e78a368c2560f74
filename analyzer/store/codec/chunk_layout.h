#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace ddbench::store {

// The numbers of FORMAT.md, "Span chunks".
inline constexpr std::uint32_t kChunkMagic = 0x31435344;  // "DSC1"
inline constexpr std::size_t kChunkHeaderBytes = 32;
inline constexpr std::size_t kChecksumOffset = 24;
inline constexpr std::size_t kChunkTailBytes = 16;   // zeros, so that a bit field may be read by whole words
inline constexpr std::size_t kSegmentSpans = 16384;  // what encode_spans puts into one segment
inline constexpr std::size_t kMaxSegmentSpans = 65536;  // what decode_spans accepts in one
inline constexpr std::size_t kMaxTags = 4096;
inline constexpr std::size_t kMaxSlots = 512;
inline constexpr std::size_t kRawSpanBytes = 48;
inline constexpr std::uint8_t kRawSegment = 0;
inline constexpr std::uint8_t kPackedSegment = 1;

/// The bit-packed columns of a packed segment, in the order they are stored after the tag column.
enum Column : std::size_t { kGap, kDuration, kStepDelta, kCorrelation, kBytes, kColumnCount };
inline constexpr std::array<std::string_view, kColumnCount> kColumnNames = {"begin", "duration", "step",
                                                                            "correlation", "bytes"};

constexpr std::uint64_t from_little_endian(std::uint64_t value) noexcept {
  return std::endian::native == std::endian::little ? value : __builtin_bswap64(value);
}

inline std::uint64_t load_u64(const std::byte* bytes) noexcept {
  std::uint64_t value;
  std::memcpy(&value, bytes, sizeof value);
  return from_little_endian(value);
}

inline void store_u64(std::byte* bytes, std::uint64_t value) noexcept {
  value = from_little_endian(value);
  std::memcpy(bytes, &value, sizeof value);
}

constexpr std::uint64_t low_bits(unsigned width) noexcept {
  return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

constexpr std::uint64_t zigzag(std::uint64_t value) noexcept {
  return (value << 1) ^ (0 - (value >> 63));
}

constexpr std::uint64_t unzigzag(std::uint64_t value) noexcept {
  return (value >> 1) ^ (0 - (value & 1));
}

/// 64 bits over `chunk` with the checksum field itself taken as zero (FORMAT.md). A chunk with one damaged
/// 8-byte word never keeps its checksum; other damage keeps it with a probability of 2^-64.
/// `chunk` holds at least a header.
std::uint64_t chunk_checksum(std::span<const std::byte> chunk) noexcept;

}  // namespace ddbench::store
