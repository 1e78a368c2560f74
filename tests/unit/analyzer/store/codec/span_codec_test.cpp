#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "analyzer/store/codec/span_codec.h"
#include "ddp_trace.h"

namespace ddbench::store {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

void expect_lossless(const std::vector<Span>& spans) {
  const auto chunk = encode_spans(spans);
  EXPECT_TRUE(decode_spans(chunk) == spans) << spans.size() << " spans";
  EXPECT_LE(chunk.size(), 48 * spans.size() + 64 + spans.size() / 1000) << "packing must never cost much";
}

Span random_span(std::mt19937_64& random) {
  Span span;
  span.begin_ns = static_cast<std::int64_t>(random());
  span.end_ns = static_cast<std::int64_t>(random());
  span.bytes = random();
  span.correlation = random();
  span.name_id = static_cast<std::uint32_t>(random());
  span.step = static_cast<std::uint32_t>(random());
  span.kind = static_cast<SpanKind>(random() & 0xFF);
  span.lane = static_cast<Lane>(random() & 0xFF);
  span.bucket = static_cast<std::uint16_t>(random());
  span.reserved = static_cast<std::uint32_t>(random());
  return span;
}

TEST(SpanCodec, NothingStaysNothing) {
  expect_lossless({});
}

TEST(SpanCodec, EachFieldAloneSurvivesItsExtremes) {
  const std::vector<Span> extremes = {
      {.begin_ns = kMin, .end_ns = kMax},
      {.begin_ns = kMax, .end_ns = kMin},
      {.begin_ns = -1, .end_ns = -1},
      {.bytes = ~std::uint64_t{0}},
      {.correlation = ~std::uint64_t{0}},
      {.name_id = ~std::uint32_t{0}},
      {.step = 0},
      {.step = kNoStep},
      {.kind = static_cast<SpanKind>(255)},
      {.lane = static_cast<Lane>(255)},
      {.bucket = 0},
      {.reserved = ~std::uint32_t{0}},
  };
  for (const Span& span : extremes) expect_lossless({span});
  expect_lossless(extremes);
}

TEST(SpanCodec, RandomBitsSurvive) {
  std::mt19937_64 random(1);
  for (const std::size_t count : {1, 2, 3, 63, 64, 65, 1000, 16384, 16385, 40000}) {
    std::vector<Span> spans(count);
    for (Span& span : spans) span = random_span(random);
    expect_lossless(spans);
  }
}

// Few tags and columns that are each random, small, constant or extreme: what packing has branches for.
TEST(SpanCodec, RandomColumnsOfEveryWidthSurvive) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 400; ++round) {
    const auto pick = [&] {
      const int width = static_cast<int>(random() % 65);
      const std::uint64_t offset = random() % 3 == 0 ? random() : 0;
      return [=]() mutable { return offset + (width == 0 ? 0 : random() >> (64 - width)); };
    };
    auto begin = pick(), duration = pick(), bytes = pick(), correlation = pick(), step = pick();
    const std::uint64_t tags = 1 + random() % 5;
    const bool few_bytes = random() % 2 == 0;
    std::vector<Span> spans(1 + random() % 300);
    for (Span& span : spans) {
      const std::uint64_t tag = random() % tags;
      span.begin_ns = static_cast<std::int64_t>(begin());
      span.end_ns = static_cast<std::int64_t>(static_cast<std::uint64_t>(span.begin_ns) + duration());
      span.bytes = few_bytes ? tag : bytes();
      span.correlation = correlation();
      span.step = static_cast<std::uint32_t>(step());
      span.kind = static_cast<SpanKind>(tag);
      span.lane = static_cast<Lane>(tag % 2);
      span.name_id = static_cast<std::uint32_t>(tag);
    }
    expect_lossless(spans);
  }
}

TEST(SpanCodec, OrderIsKeptWhateverItIs) {
  std::vector<Span> spans = test::ddp_trace({.steps = 40}).spans;
  std::shuffle(spans.begin(), spans.end(), std::mt19937_64(3));
  expect_lossless(spans);
  std::reverse(spans.begin(), spans.end());
  expect_lossless(spans);
}

TEST(SpanCodec, MoreTagsThanATableHoldsSurvive) {
  std::vector<Span> spans(30000);
  for (std::size_t index = 0; index < spans.size(); ++index) {
    spans[index].name_id = static_cast<std::uint32_t>(index * 7919 % 5000);
    spans[index].bytes = index;
  }
  expect_lossless(spans);
}

TEST(SpanCodec, AllLanesAtOnceSurvive) {
  std::vector<Span> spans(5000);
  for (std::size_t index = 0; index < spans.size(); ++index) {
    spans[index].lane = static_cast<Lane>(index % 256);
    spans[index].kind = static_cast<SpanKind>(index % 2);
    spans[index].begin_ns = static_cast<std::int64_t>(index * index);
    spans[index].end_ns = spans[index].begin_ns + 5;
  }
  expect_lossless(spans);
}

TEST(SpanCodec, RealisticTracesTakeTwelveBytesASpanOrLess) {
  for (const double preempted_share : {0.0, 0.1, 0.5}) {
    const auto spans = test::ddp_trace({.steps = 600, .preempted_share = preempted_share}).spans;
    ASSERT_GT(spans.size(), 10'000u);
    expect_lossless(spans);
    const double bytes_a_span =
        static_cast<double>(encode_spans(spans).size()) / static_cast<double>(spans.size());
    EXPECT_LE(bytes_a_span, 12) << preempted_share;
  }
}

TEST(SpanCodec, DecodingOntoAppends) {
  const std::vector<Span> spans = test::ddp_trace({.steps = 10}).spans;
  std::vector<Span> out = {Span{.begin_ns = 7}};
  decode_spans_onto(encode_spans(spans), out);
  ASSERT_EQ(out.size(), spans.size() + 1);
  EXPECT_EQ(out[0].begin_ns, 7);
  EXPECT_TRUE(std::equal(spans.begin(), spans.end(), out.begin() + 1));
}

}  // namespace
}  // namespace ddbench::store
