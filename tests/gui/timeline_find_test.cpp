// Searches by kind, totals of a range and stragglers of a timeline.

#include <gtest/gtest.h>

#include <QTest>
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gui/timeline/timeline_totals.h"
#include "gui/timeline/timeline_view.h"

namespace ddbench::gui {
namespace {

Span span_of(SpanKind kind, std::int64_t begin_ns, std::int64_t end_ns, std::uint32_t name) {
  Span span;
  span.kind = kind;
  span.lane = kind == SpanKind::kCommunication ? Lane::kCommunication : Lane::kMain;
  span.begin_ns = begin_ns;
  span.end_ns = end_ns;
  span.name_id = name;
  return span;
}

/// Two ranks: a forward of two operators, one nested in a phase, and collectives at which rank 1 comes late once.
std::shared_ptr<const Timeline> two_ranks() {
  const std::vector<std::string> names{"forward_pass", "linear", "all_reduce"};
  TimelineBuilder builder;
  for (int rank = 0; rank < 2; ++rank) {
    std::vector<Span> spans{span_of(SpanKind::kForward, 0, 1000, 0), span_of(SpanKind::kForward, 200, 700, 1),
                            span_of(SpanKind::kBackward, 1000, 1600, 1)};
    for (int i = 0; i < 4; ++i) {
      const std::int64_t late = rank == 1 && i == 2 ? 400 : 0;
      Span collective = span_of(SpanKind::kCommunication, 2000 + i * 1000 + late, 2600 + i * 1000, 2);
      collective.correlation = collective_key(1, static_cast<std::uint64_t>(i) + 1);
      collective.step = static_cast<std::uint32_t>(i);
      spans.push_back(collective);
    }
    store::RankRecord record;
    record.rank = rank;
    record.clock.shared_clock = true;
    builder.add_rank(record, spans, names);
  }
  return std::make_shared<const Timeline>(builder.finish());
}

int count(const Timeline& timeline, const std::string& text) {
  const SpanFilter filter = search_spans(timeline, text);
  int found = 0;
  for (const TimelineLane& lane : timeline.lanes) {
    for (const SpanClass& each : lane.classes) {
      for (std::size_t i = 0; filter.is_active() && i < each.size(); ++i)
        found += filter.matches(each.name[i], each.kind[i]) ? 1 : 0;
    }
  }
  return found;
}

TEST(TimelineSearch, FindsByNameByKindAndByBoth) {
  const auto timeline = two_ranks();
  EXPECT_EQ(count(*timeline, "LIN"), 4);
  EXPECT_EQ(count(*timeline, "kind:forward"), 4);
  EXPECT_EQ(count(*timeline, "kind:forward linear"), 2);
  EXPECT_EQ(count(*timeline, "kind:forward all_reduce"), 0);
  EXPECT_EQ(count(*timeline, "comm"), 8) << "the beginning of a kind";
  EXPECT_EQ(count(*timeline, "com"), 0);
  EXPECT_EQ(count(*timeline, "kind:nothing"), 0);
  EXPECT_FALSE(search_spans(*timeline, "  ").is_active());
  EXPECT_EQ(search_spans(*timeline, "comm").found, 1);
  EXPECT_EQ(search_spans(*timeline, "nowhere").found, 0);
}

TEST(TimelineRows, OperatorsLieInsideTheirPhase) {
  const auto timeline = two_ranks();
  TimelineRow row;
  row.fill(*timeline, 0, {0, 2000, 2000});
  ASSERT_EQ(row.wide().size(), 3U);
  EXPECT_EQ(row.wide()[0].depth, 0);
  EXPECT_EQ(row.wide()[1].depth, 1);
  EXPECT_DOUBLE_EQ(row.wide()[1].to - row.wide()[1].from, 500);
  EXPECT_EQ(row.wide()[2].depth, 0) << "the phase after it";
}

TEST(TimelineTotals, CountNestedSpansOnceAndClipTheRange) {
  const auto timeline = two_ranks();
  const auto all = totals_between(*timeline, 0, 10'000);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].kind, SpanKind::kCommunication);
  EXPECT_DOUBLE_EQ(all[0].mean_ns, (4 * 600 + 3 * 600 + 200) / 2.0);
  EXPECT_EQ(all[1].kind, SpanKind::kForward);
  EXPECT_DOUBLE_EQ(all[1].mean_ns, 1000) << "the operator lies inside the phase";
  const auto part = totals_between(*timeline, 1300, 500);  // in either order
  ASSERT_EQ(part.size(), 2U);
  EXPECT_DOUBLE_EQ(part[0].mean_ns, 500);
  EXPECT_DOUBLE_EQ(part[1].mean_ns, 300);
  EXPECT_TRUE(totals_between(*timeline, 1700, 1900).empty());
  EXPECT_TRUE(totals_between(Timeline(), 0, 1).empty());
}

TEST(TimelineStragglers, AreTheLastRanksOfCollectivesByTheWaitTheyCaused) {
  const auto timeline = two_ranks();
  ASSERT_EQ(timeline->stragglers.size(), 1U);
  EXPECT_EQ(timeline->stragglers[0].rank, 1);
  EXPECT_EQ(timeline->stragglers[0].at_ns, 4400);
  EXPECT_EQ(timeline->stragglers[0].caused_ns, 400);
  EXPECT_EQ(timeline->stragglers[0].step, 2U);
  EXPECT_EQ(next_straggler(timeline->stragglers, 4400, false), nullptr);
  EXPECT_NE(next_straggler(timeline->stragglers, 4399, false), nullptr);
  EXPECT_EQ(next_straggler(timeline->stragglers, 4400, true), nullptr);
  EXPECT_NE(next_straggler(timeline->stragglers, 4401, true), nullptr);
}

TEST(TimelineStragglers, AreTheLargestAndAgreeWithAllArrivals) {
  std::mt19937 random(5);
  constexpr int kRanks = 5;
  constexpr int kCollectives = 400;
  std::vector<std::vector<std::int64_t>> arrivals(kCollectives);
  Arrivals seen;
  for (int rank = 0; rank < kRanks; ++rank) {
    for (int i = 0; i < kCollectives; ++i) {
      Span span = span_of(SpanKind::kCommunication, 0, 1, 0);
      span.correlation = collective_key(1, static_cast<std::uint64_t>(i) + 1);
      const std::int64_t at = i * 1'000'000LL + static_cast<std::int64_t>(random() % 500'000);
      arrivals[static_cast<std::size_t>(i)].push_back(at);
      const bool reversed = i % 2 == 1;
      seen.add(span, rank, at + (reversed ? 100 : 0));
      seen.add(span, rank, at + (reversed ? 0 : 100));  // again, on the lane of the device
    }
  }
  std::vector<std::int64_t> waits;
  for (auto& each : arrivals) {
    std::sort(each.begin(), each.end());
    waits.push_back(each[kRanks - 1] - each[kRanks - 2]);
  }
  std::sort(waits.rbegin(), waits.rend());
  const auto found = seen.finish(0);
  ASSERT_EQ(found.size(), Arrivals::kMostStragglers);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_GE(found[i].caused_ns, waits[Arrivals::kMostStragglers - 1]);
    if (i > 0) {
      EXPECT_LT(found[i - 1].at_ns, found[i].at_ns);
    }
    const auto& all = arrivals[static_cast<std::size_t>(found[i].at_ns / 1'000'000)];
    EXPECT_EQ(found[i].at_ns, all[kRanks - 1]);
  }
}

TEST(TimelineStragglers, AreReachedByKey) {
  TimelineView view;
  view.resize(900, 400);
  view.show();
  view.set_timeline(two_ranks());
  view.setFocus();
  QTest::keyClick(&view, Qt::Key_S);
  ASSERT_TRUE(view.selected());
  ASSERT_NE(view.selected_straggler(), nullptr);
  EXPECT_EQ(view.selected_straggler()->caused_ns, 400);
  EXPECT_FALSE(view.go_to_straggler(false));
  view.set_timeline(std::make_shared<const Timeline>());
  EXPECT_FALSE(view.go_to_straggler(false));
  EXPECT_EQ(view.selected_straggler(), nullptr);
}

}  // namespace
}  // namespace ddbench::gui
