// What the CUPTI probe keeps: buffers, and the ranges by which it knows what a kernel belongs to.
#include <gtest/gtest.h>

#include <algorithm>

#include "probes/cupti/buffer_pool.h"
#include "probes/cupti/captured_ranges.h"
#include "probes/cupti/collective_times.h"
#include "probes/cupti/range_table.h"

namespace ddbench::cuda {
namespace {

TEST(BufferPool, GivesBuffersAgainAndCountsWhatItRefuses) {
  BufferPool pool(1, 2);
  std::uint8_t* const first = pool.take();
  std::uint8_t* const second = pool.take();
  ASSERT_TRUE(first != nullptr && second != nullptr && first != second);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 8, 0u);
  EXPECT_EQ(pool.take(), nullptr);
  EXPECT_EQ(pool.refused(), 1u);
  first[0] = first[BufferPool::kBufferBytes - 1] = 1;
  pool.give_back(first);
  EXPECT_EQ(pool.take(), first);
  EXPECT_TRUE(std::all_of(first, first + BufferPool::kBufferBytes, [](std::uint8_t byte) { return byte == 0; }));
}

TEST(CapturedRanges, NodesTakeTheInnermostRangeWhileACaptureIsFollowed) {
  CapturedRanges ranges;
  Range found;
  ranges.push({SpanKind::kForward, 1, kNoBucket, 0, 0});
  ranges.add(1);
  EXPECT_FALSE(ranges.find(1, found)) << "nothing is captured";
  ranges.pop();
  ranges.follow(true);
  ranges.push({SpanKind::kBackward, 1, kNoBucket, 0, 0});
  ranges.push({SpanKind::kCommunication, 1, 3, 64, 0});
  ranges.add(2);
  ranges.pop();
  ranges.add(3);
  ranges.pop();
  ranges.add(4);
  ranges.copy(2, 12);
  ranges.copy(4, 14);
  ranges.follow(false);
  ASSERT_TRUE(ranges.find(12, found)) << "the copy that runs";
  EXPECT_EQ(found.kind, SpanKind::kCommunication);
  EXPECT_EQ(found.bucket, 3u);
  ASSERT_TRUE(ranges.find(3, found));
  EXPECT_EQ(found.kind, SpanKind::kBackward);
  EXPECT_FALSE(ranges.find(4, found)) << "outside of any range";
  EXPECT_FALSE(ranges.find(14, found));
}

TEST(CollectiveTimes, KeepsTheLatest) {
  CollectiveTimes times;
  Range found;
  EXPECT_FALSE(times.find(5, found));
  for (std::uint32_t i = 0; i < 2 * CollectiveTimes::kMost; ++i) {
    times.begin({SpanKind::kCommunication, i, 0, 0, 0}, 10 * i);
    times.end(10 * i + 5);
  }
  const std::int64_t last = 10 * (2 * CollectiveTimes::kMost - 1);
  ASSERT_TRUE(times.find(last + 5, found));
  EXPECT_EQ(found.step, 2 * CollectiveTimes::kMost - 1);
  EXPECT_FALSE(times.find(last + 6, found)) << "after its end";
  EXPECT_FALSE(times.find(last - 1, found)) << "between two";
  EXPECT_FALSE(times.find(3, found)) << "too long ago";
  times.begin({SpanKind::kCommunication, 1, 0, 0, 0}, last + 10);
  EXPECT_TRUE(times.find(last + 1'000'000, found)) << "still under way";
}

TEST(RangeTable, ForgetsTheOldest) {
  RangeTable table;
  const std::uint64_t first = table.add({SpanKind::kForward, 1, kNoBucket, 0, 0});
  Range found;
  EXPECT_TRUE(table.find(first, found));
  EXPECT_EQ(found.kind, SpanKind::kForward);
  for (std::uint64_t i = 0; i < RangeTable::kRanges; ++i) table.add({});
  EXPECT_FALSE(table.find(first, found));
  EXPECT_FALSE(table.find(0, found));
  EXPECT_FALSE(table.find(first + RangeTable::kRanges + 1, found));
}

}  // namespace
}  // namespace ddbench::cuda
