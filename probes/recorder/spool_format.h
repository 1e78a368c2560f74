#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/span.h"
#include "probes/recorder/spool.h"

namespace ddbench::host {

// The layout that SPOOL.md documents. Spans and scalars lie in the file as they do in memory.
static_assert(std::endian::native == std::endian::little, "the spool is a little-endian format");
static_assert(sizeof(Scalar) == 16);

inline constexpr std::uint32_t kSpoolVersion = 1;

struct SpoolPreamble {
  std::array<char, 12> magic = {'d', 'd', 'b', 'e', 'n', 'c', 'h', 's', 'p', 'o', 'o', 'l'};
  std::uint32_t version = kSpoolVersion;
};
static_assert(sizeof(SpoolPreamble) == 16);

enum FrameType : std::uint32_t {
  kRunFrame = 1,      ///< i32 rank, then the run id
  kNamesFrame = 2,    ///< u32 first id; then for each name u32 length and its bytes
  kSpansFrame = 3,    ///< Span[]
  kScalarsFrame = 4,  ///< Scalar[]
  kDroppedFrame = 5,  ///< u64 total so far
  kEndFrame = 6,      ///< nothing
};

struct FrameHeader {
  std::uint32_t type = 0;
  std::uint32_t payload_bytes = 0;
  std::uint32_t sequence = 0;       ///< frames count up from 0
  std::uint32_t header_check = 0;   ///< over the other fields
  std::uint64_t payload_check = 0;  ///< spool_checksum of the payload
};
static_assert(sizeof(FrameHeader) == 24);

/// 1.5 MB: below the size of a second-level cache, so that a frame is still there when its checksum is done,
/// and large enough for file systems that allocate the page cache in large pieces.
inline constexpr std::size_t kMaxSpansPerFrame = 32768;
/// No frame is larger; a header with a larger size is corrupt.
inline constexpr std::uint32_t kMaxPayloadBytes = 1u << 26;

/// Any change within one 8-byte word changes the result for certain: every word enters one of four lanes by a
/// bijection of that lane, and every lane enters the result by a bijection.
std::uint64_t spool_checksum(const void* data, std::size_t bytes) noexcept;
std::uint32_t header_checksum(const FrameHeader& header) noexcept;

}  // namespace ddbench::host
