#include "core/span.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ddbench {
namespace {

TEST(Span, CollectiveKeysDifferByCommunicatorAndSequence) {
  EXPECT_NE(collective_key(1, 1), collective_key(1, 2));
  EXPECT_NE(collective_key(1, 1), collective_key(2, 1));
  EXPECT_EQ(collective_key(3, 5) >> 48, 3u);
}

TEST(Span, EveryKindHasItsOwnName) {
  std::set<std::string> names;
  for (int kind = 0; kind < kSpanKindCount; ++kind)
    names.insert(std::string(to_string(static_cast<SpanKind>(kind))));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kSpanKindCount));
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(Span, ComputeIsForwardBackwardOptimizerAndOther) {
  int compute_kinds = 0;
  for (int kind = 0; kind < kSpanKindCount; ++kind) compute_kinds += is_compute(static_cast<SpanKind>(kind));
  EXPECT_EQ(compute_kinds, 4);
  EXPECT_FALSE(is_compute(SpanKind::kCommunication));
}

}  // namespace
}  // namespace ddbench
