#include <gtest/gtest.h>

#include <random>

#include "analyzer/store/codec/chunk_layout.h"
#include "analyzer/store/codec/span_codec.h"
#include "ddp_trace.h"
#include "expect_error.h"

namespace ddbench::store {
namespace {

using Bytes = std::vector<std::byte>;

// Gives a changed chunk a header that fits, so that what lies behind the checksum is reached.
void seal(Bytes& chunk) {
  store_u64(chunk.data() + 16, chunk.size());
  store_u64(chunk.data() + kChecksumOffset, chunk_checksum(chunk));
}

bool decodes(const Bytes& chunk) {
  try {
    decode_spans(chunk);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kRunFailed);
    EXPECT_TRUE(test::contains(error.message(), "a chunk of spans is damaged")) << error.message();
    return false;
  }
}

Bytes packed_chunk() {
  return encode_spans(test::ddp_trace({.steps = 12}).spans);
}

Bytes wide_chunk() {
  std::vector<Span> spans(64);
  for (std::size_t index = 0; index < spans.size(); ++index) {
    spans[index].correlation = (index * 0x9E3779B97F4A7C15) ^ (index << 60);
  }
  return encode_spans(spans);
}

Bytes raw_chunk() {
  std::vector<Span> spans(3);
  for (std::size_t index = 0; index < spans.size(); ++index) {
    spans[index] = {.begin_ns = static_cast<std::int64_t>(index << 62),
                    .end_ns = static_cast<std::int64_t>(index << 40),
                    .correlation = index * 0x9E3779B97F4A7C15,
                    .name_id = 0xFFFFFFFF - static_cast<std::uint32_t>(index)};
  }
  return encode_spans(spans);
}

std::vector<Bytes> all_chunks() {
  return {packed_chunk(), wide_chunk(), raw_chunk(), encode_spans({})};
}

TEST(DamagedChunk, EveryTruncationIsAnError) {
  for (const Bytes& chunk : all_chunks()) {
    ASSERT_TRUE(decodes(chunk));
    for (std::size_t size = 0; size < chunk.size(); ++size) {
      EXPECT_FALSE(decodes(Bytes(chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(size)))) << size;
    }
  }
}

TEST(DamagedChunk, EveryFlippedBitIsAnError) {
  for (Bytes chunk : all_chunks()) {
    for (std::size_t bit = 0; bit < 8 * chunk.size(); ++bit) {
      chunk[bit / 8] ^= std::byte{1} << (bit % 8);
      EXPECT_FALSE(decodes(chunk)) << "bit " << bit;
      chunk[bit / 8] ^= std::byte{1} << (bit % 8);
    }
  }
}

TEST(DamagedChunk, TrailingBytesAreAnError) {
  for (Bytes chunk : all_chunks()) {
    chunk.push_back(std::byte{0});
    EXPECT_FALSE(decodes(chunk));
  }
}

TEST(DamagedChunk, RandomBytesAreAnError) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 2000; ++round) {
    Bytes bytes(random() % 300);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    EXPECT_FALSE(decodes(bytes));
  }
}

// Behind a checksum that fits, anything may be found: an Error or spans, but never a read out of bounds
// (which the sanitizers see).
TEST(DamagedChunk, SealedDamageIsHandled) {
  std::mt19937_64 random(5);
  const std::vector<Bytes> chunks = {encode_spans(test::ddp_trace({.steps = 2}).spans), wide_chunk(),
                                     raw_chunk()};
  int decoded = 0, refused = 0;
  for (int round = 0; round < 6'000; ++round) {
    Bytes chunk = chunks[round % chunks.size()];
    for (std::uint64_t change = 1 + random() % 3; change > 0; --change) {
      // The count of spans and all that follows the header.
      std::size_t at = 8 + random() % (chunk.size() - 8);
      if (random() % 2 == 0) at = kChunkHeaderBytes + random() % 40;
      chunk[at % chunk.size()] = static_cast<std::byte>(random() % 2 == 0 ? 0xFF : random());
    }
    if (random() % 4 == 0) chunk.resize(std::max(kChunkHeaderBytes, chunk.size() - random() % 64));
    if (random() % 8 == 0) chunk.resize(chunk.size() + random() % 64);
    seal(chunk);
    ++(decodes(chunk) ? decoded : refused);
  }
  EXPECT_GT(decoded, 100);
  EXPECT_GT(refused, 100);
}

TEST(DamagedChunk, ErrorsNameTheColumn) {
  Bytes chunk = packed_chunk();
  chunk[kChunkHeaderBytes] = std::byte{9};
  seal(chunk);
  EXPECT_ERROR(ErrorCode::kRunFailed, "segment: its encoding is unknown", decode_spans(chunk));

  chunk = packed_chunk();
  chunk.resize(chunk.size() - 200);
  seal(chunk);
  EXPECT_ERROR(ErrorCode::kRunFailed, "the chunk ends too early", decode_spans(chunk));

  chunk = packed_chunk();
  chunk[40] ^= std::byte{1};
  EXPECT_ERROR(ErrorCode::kRunFailed, "checksum", decode_spans(chunk));

  chunk = packed_chunk();
  store_u64(chunk.data() + 8, 1);
  seal(chunk);
  EXPECT_ERROR(ErrorCode::kRunFailed, "more spans than it says", decode_spans(chunk));
}

TEST(DamagedChunk, OutputIsAsItWasAfterAnError) {
  Bytes chunk = packed_chunk();
  store_u64(chunk.data() + 8, 1);
  seal(chunk);
  std::vector<Span> out(3);
  EXPECT_THROW(decode_spans_onto(chunk, out), Error);
  EXPECT_EQ(out.size(), 3u);
}

// The layout is a contract: what one version has written, all later ones read.
TEST(DamagedChunk, StoredBytesOfTheFormatStillDecode) {
  const std::vector<Span> spans = {{.begin_ns = 100,
                                    .end_ns = 150,
                                    .bytes = 8,
                                    .correlation = 1,
                                    .name_id = 2,
                                    .step = 3,
                                    .kind = SpanKind::kCopy,
                                    .lane = Lane::kLoader,
                                    .bucket = 4,
                                    .reserved = 5},
                                   {.begin_ns = 160,
                                    .end_ns = 180,
                                    .bytes = 8,
                                    .correlation = 2,
                                    .name_id = 2,
                                    .step = 4,
                                    .kind = SpanKind::kCopy,
                                    .lane = Lane::kLoader,
                                    .bucket = 4,
                                    .reserved = 5}};
  static constexpr unsigned char kStored[] = {
#include "stored_chunk.inc"
  };
  const Bytes stored(reinterpret_cast<const std::byte*>(kStored),
                     reinterpret_cast<const std::byte*>(kStored) + sizeof kStored);
  EXPECT_TRUE(decode_spans(stored) == spans);
  EXPECT_TRUE(encode_spans(spans) == stored);
}

}  // namespace
}  // namespace ddbench::store
