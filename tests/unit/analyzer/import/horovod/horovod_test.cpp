#include "analyzer/import/horovod/horovod.h"

#include <gtest/gtest.h>

#include "text.h"

namespace ddbench::imports {
namespace {

TEST(Horovod, NegotiationsThatNameNoRanksAddNoWaitsToThoseThatDo) {
  HorovodTimeline timeline;
  timeline.tensors = {"a"};
  timeline.named_ranks = 3;
  timeline.ready = {{0, 1000}, {1, 1000}, {2, 4000}};
  timeline.negotiations.push_back({0, 1000, 4100, 0, 3});
  for (int i = 1; i <= 9; ++i) timeline.negotiations.push_back({0, 10'000 * i, 10'000 * i + 7000, 0, 0});  // of Horovod's cache
  const RankTrace trace = horovod_trace(timeline, "t.json", {});
  ASSERT_EQ(trace.reported_collectives.size(), 1u);
  const store::CollectiveRecord& negotiate = trace.reported_collectives[0];
  EXPECT_EQ(negotiate.count, 10u);
  EXPECT_EQ(negotiate.peer_wait_ns, 3000) << "of ranks 0 and 1, and 0 of rank 2";
  EXPECT_EQ(negotiate.transfer_ns, 100);
  EXPECT_EQ(negotiate.duration_ns, 3100);
  EXPECT_TRUE(negotiate.peer_wait_resolved);
  EXPECT_TRUE(test::contains(trace.notes.front(), "9 others do not, as of tensors that Horovod had in its cache")) << trace.notes.front();
}

TEST(Horovod, WithoutAnyNameTheWholeNegotiationIsItsTime) {
  HorovodTimeline timeline;
  timeline.tensors = {"a"};
  timeline.negotiations.push_back({0, 1000, 8000, 0, 0});
  HorovodOptions options;
  options.ranks = 4;
  const store::CollectiveRecord negotiate = horovod_trace(timeline, "t.json", options).reported_collectives.at(0);
  EXPECT_EQ(negotiate.count, 1u);
  EXPECT_EQ(negotiate.duration_ns, 7000);
  EXPECT_FALSE(negotiate.peer_wait_resolved);
}

}  // namespace
}  // namespace ddbench::imports
