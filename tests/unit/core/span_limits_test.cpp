#include "core/span_limits.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace ddbench {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(SpanLimits, SpansAtTheLimitsAreValid) {
  for (const Span& span : {
           Span{},
           Span{.begin_ns = -kLatest_ns, .end_ns = kLatest_ns},
           Span{.bytes = kMostBytes},
           Span{.correlation = ~std::uint64_t{0}},
           Span{.name_id = 6},
           Span{.step = kLastStep},
           Span{.step = kNoStep},
           Span{.kind = SpanKind::kNcclEvent},
           Span{.lane = Lane::kDeviceCommunication},
           Span{.bucket = kNoBucket},
       }) {
    EXPECT_TRUE(is_valid(span, 7));
    EXPECT_EQ(why_invalid(span, 7), "");
  }
}

TEST(SpanLimits, WhatLiesBeyondIsNamedWithItsValue) {
  const std::vector<std::pair<Span, std::string>> spans = {
      {{.kind = static_cast<SpanKind>(10)}, "kind 10 is unknown"},
      {{.kind = static_cast<SpanKind>(255)}, "kind 255 is unknown"},
      {{.lane = static_cast<Lane>(5)}, "lane 5 is unknown"},
      {{.begin_ns = kMin}, "no clock shows -9223372036854775808 ns"},
      {{.end_ns = kMax}, "no clock shows 9223372036854775807 ns"},
      {{.begin_ns = -kLatest_ns - 1}, "no clock shows -288230376151711745 ns"},
      {{.begin_ns = 2, .end_ns = 1}, "it ends at 1 ns, before it begins at 2 ns"},
      {{.bytes = kMostBytes + 1}, "1152921504606846977 bytes are too many"},
      {{.step = kLastStep + 1}, "step 2147483647 is too large"},
      {{.name_id = 7}, "name 7 is not among the 7 names"},
  };
  for (const auto& [span, why] : spans) {
    EXPECT_FALSE(is_valid(span, 7)) << why;
    EXPECT_EQ(why_invalid(span, 7), why);
  }
}

TEST(SpanLimits, StoredSpansMayEndBeforeTheyBegin) {
  EXPECT_TRUE(within_limits(Span{.begin_ns = 2, .end_ns = 1, .name_id = 1'000'000}));
  EXPECT_FALSE(within_limits(Span{.begin_ns = 2, .end_ns = kMin}));
}

TEST(SpanLimits, ClockReadings) {
  EXPECT_TRUE(within_limits(ClockReading{}));
  EXPECT_TRUE(within_limits(ClockReading{kLatest_ns, -2 * kLatest_ns, 2 * kLatest_ns}));
  EXPECT_FALSE(within_limits(ClockReading{kMax, 0, 0}));
  EXPECT_FALSE(within_limits(ClockReading{0, kMin, 0}));
  EXPECT_FALSE(within_limits(ClockReading{0, 0, -1}));
}

TEST(SpanLimits, SumsStayAtTheEndsOfInt64) {
  EXPECT_EQ(add_ns(2, 3), 5);
  EXPECT_EQ(add_ns(kMax, 1), kMax);
  EXPECT_EQ(add_ns(kMin, -1), kMin);
  EXPECT_EQ(add_ns(kMax, kMin), -1);
}

}  // namespace
}  // namespace ddbench
