// Ranks grouped by node: what a node's row shows, which rows are drawn, and that thousands of ranks cost rows only.

#include <gtest/gtest.h>

#include <QTest>
#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gui/timeline/timeline_view.h"

namespace ddbench::gui {
namespace {

constexpr std::int64_t kStep_ns = 10'000'000;

Span span_of(SpanKind kind, std::int64_t begin_ns, std::int64_t end_ns) {
  Span span;
  span.kind = kind;
  span.lane = kind == SpanKind::kCommunication ? Lane::kCommunication : Lane::kMain;
  span.begin_ns = begin_ns;
  span.end_ns = end_ns;
  return span;
}

/// Steps of a forward, operators inside it, and a collective half of which is hidden behind the backward pass. Every
/// 8th rank is late.
std::shared_ptr<const Timeline> cluster(int nodes, int ranks_of_node, int steps) {
  TimelineBuilder builder;
  const std::vector<std::string> names{"operator"};
  for (int rank = 0; rank < nodes * ranks_of_node; ++rank) {
    std::vector<Span> spans;
    for (int step = 0; step < steps; ++step) {
      const std::int64_t begin = step * kStep_ns + (rank % 8 == 7 ? kStep_ns / 10 : 0);
      const auto part = [&](SpanKind kind, int from, int to) {  // hundredths of a step
        spans.push_back(span_of(kind, begin + from * kStep_ns / 100, begin + to * kStep_ns / 100));
      };
      part(SpanKind::kForward, 0, 20);
      for (int i = 0; i < 10; ++i) part(SpanKind::kForward, 2 * i, 2 * i + 1);
      part(SpanKind::kBackward, 20, 60);
      part(SpanKind::kCommunication, 40, 80);
    }
    store::RankRecord record;
    record.rank = rank;
    record.node = rank % nodes;  // placed in turn: ranks of a node do not follow each other
    record.clock.shared_clock = true;
    builder.add_rank(record, spans, names);
  }
  return std::make_shared<const Timeline>(builder.finish());
}

std::vector<float> shares_of(const Timeline& timeline, std::size_t node, const TimeWindow& window) {
  TimelineRow row;
  row.fill_node(timeline, node, window);
  return row.shares();
}

double share(const std::vector<float>& shares, int column, SpanKind kind) {
  return static_cast<double>(shares[static_cast<std::size_t>(column * kSpanKindCount) + static_cast<std::size_t>(kind)]);
}

TEST(TimelineNodes, RanksOfANodeFollowEachOther) {
  const auto timeline = cluster(4, 4, 1);
  ASSERT_EQ(timeline->nodes.size(), 4U);
  ASSERT_EQ(timeline->lanes.size(), 32U);
  for (std::size_t n = 0; n < 4; ++n) {
    const TimelineNode& node = timeline->nodes[n];
    EXPECT_EQ(node.node, static_cast<int>(n));
    EXPECT_EQ(node.ranks, 4);
    EXPECT_EQ(node.first_lane, 8 * n);
    EXPECT_EQ(node.lanes, 8U);
    for (std::size_t lane = node.first_lane; lane < node.first_lane + node.lanes; ++lane)
      EXPECT_EQ(timeline->lanes[lane].node, node.node);
  }
  EXPECT_TRUE(cluster(1, 8, 1)->nodes.empty()) << "nothing to group";
  EXPECT_TRUE(cluster(8, 1, 1)->nodes.empty()) << "a rank is its node";
  EXPECT_EQ(cluster(1, 512, 1)->nodes.size(), 1U) << "too many rows for one screen";
}

TEST(TimelineNodes, ARowIsTheMeanOfItsRanksAndCountsEachInstantOnce) {
  const auto timeline = cluster(2, 4, 3);  // ranks 1, 3, 5 and 7 are on node 1, and 7 is late
  const auto step = static_cast<double>(kStep_ns);
  const auto begin = static_cast<double>(timeline->begin_ns);
  const TimeWindow one_step{begin, begin + step, 100};
  const auto even = shares_of(*timeline, 0, one_step);
  EXPECT_NEAR(share(even, 10, SpanKind::kForward), 1, 0.01) << "operators inside the phase count no second time";
  EXPECT_NEAR(share(even, 50, SpanKind::kBackward), 1, 0.01);
  EXPECT_NEAR(share(even, 50, SpanKind::kCommunication), 0, 0.01) << "hidden behind the backward pass";
  EXPECT_NEAR(share(even, 70, SpanKind::kCommunication), 1, 0.01);
  const auto late = shares_of(*timeline, 1, one_step);
  EXPECT_NEAR(share(late, 5, SpanKind::kForward), 0.75, 0.01) << "one of four has not begun";
  EXPECT_NEAR(share(late, 25, SpanKind::kForward), 0.25, 0.01);
  EXPECT_NEAR(share(late, 25, SpanKind::kBackward), 0.75, 0.01);
}

TEST(TimelineNodes, AWindowBelowThePrecisionOfItsTimesIsEmpty) {
  const auto timeline = cluster(2, 4, 3);
  const double late = 0x1p57;
  for (const double begin : {late, static_cast<double>(timeline->begin_ns)}) {
    for (const float each : shares_of(*timeline, 0, {begin, begin, 1})) EXPECT_TRUE(each >= 0 && each <= 1) << each;
  }
}

TEST(TimelineNodes, AgreeWithACountOfInstantsAtEveryScale) {
  std::mt19937 random(3);
  TimelineBuilder builder;
  std::vector<std::vector<Span>> all;
  for (int rank = 0; rank < 6; ++rank) {
    std::vector<Span> spans;
    for (int i = 0; i < 300; ++i) {
      const auto begin = static_cast<std::int64_t>(random() % 900'000);
      const auto kind = static_cast<SpanKind>(1 + random() % 8);
      spans.push_back(span_of(kind, begin, begin + 1 + static_cast<std::int64_t>(random() % 5'000)));
    }
    store::RankRecord record;
    record.rank = rank;
    record.node = rank / 3;
    record.clock.shared_clock = true;
    builder.add_rank(record, spans, {});
    all.push_back(std::move(spans));
  }
  const Timeline timeline = builder.finish();
  for (const double length : {900'000.0, 40'000.0, 3'000.0}) {
    const TimeWindow window{20'000, 20'000 + length, 10};
    for (std::size_t node = 0; node < 2; ++node) {
      const auto shares = shares_of(timeline, node, window);
      for (int column = 0; column < window.columns; ++column) {
        std::array<double, kSpanKindCount> truth{};
        constexpr int kInstants = 200;
        for (int i = 0; i < kInstants; ++i) {
          const double at = window.time_at(column + (i + 0.5) / kInstants);
          for (std::size_t rank = 3 * node; rank < 3 * node + 3; ++rank) {
            int first = kSpanKindCount;
            for (const Span& span : all[rank]) {
              if (static_cast<double>(span.begin_ns) <= at && at < static_cast<double>(span.end_ns))
                first = std::min(first, static_cast<int>(span.kind));
            }
            if (first < kSpanKindCount) truth[static_cast<std::size_t>(first)] += 1.0 / (3 * kInstants);
          }
        }
        for (int kind = 1; kind < kSpanKindCount; ++kind)
          EXPECT_NEAR(share(shares, column, static_cast<SpanKind>(kind)), truth[static_cast<std::size_t>(kind)],
                      length < 10'000 ? 0.015 : 0.07)  // drawn from spans, or from buckets that columns cut
              << length << " node " << node << " column " << column << " kind " << kind;
      }
    }
  }
}

TEST(TimelineNodes, CollapseByClickAndKey) {
  TimelineView view;
  view.resize(900, 700);
  view.show();
  view.set_timeline(cluster(2, 4, 2));
  view.grab();
  EXPECT_EQ(view.layout_of_rows().rows(), 18U);
  EXPECT_EQ(view.rows_drawn(), 18);
  const QPoint title(20, 45);  // of the first node
  QTest::mouseClick(&view, Qt::LeftButton, {}, title);
  EXPECT_TRUE(view.layout_of_rows().is_collapsed(0));
  EXPECT_EQ(view.layout_of_rows().rows(), 10U);
  EXPECT_EQ(view.layout_of_rows().row_of_lane(3), 0U) << "a lane of a collapsed node is in the node's row";
  QTest::mouseClick(&view, Qt::LeftButton, {}, {500, 45});  // its row, in the plot
  EXPECT_FALSE(view.layout_of_rows().is_collapsed(0));
  view.setFocus();
  QTest::keyClick(&view, Qt::Key_C, Qt::ShiftModifier);
  EXPECT_EQ(view.layout_of_rows().rows(), 2U);
  QTest::keyClick(&view, Qt::Key_C);
  EXPECT_TRUE(view.layout_of_rows().any_collapsed());
  EXPECT_EQ(view.layout_of_rows().rows(), 10U);
  QTest::keyClick(&view, Qt::Key_C, Qt::ShiftModifier);
  EXPECT_EQ(view.layout_of_rows().rows(), 18U);
}

TEST(TimelineNodes, AMatchInACollapsedNodeExpandsIt) {
  TimelineView view;
  view.resize(900, 400);
  view.show();
  view.set_timeline(cluster(64, 8, 2));
  EXPECT_EQ(view.layout_of_rows().rows(), 64U) << "512 ranks are collapsed at first";
  ASSERT_GT(view.search(QStringLiteral("kind:backward")), 0);
  ASSERT_TRUE(view.go_to_match(false));
  ASSERT_TRUE(view.selected());
  const std::size_t node = view.layout_of_rows().node_of_lane(view.timeline(), view.selected()->lane);
  EXPECT_FALSE(view.layout_of_rows().is_collapsed(node));
  EXPECT_EQ(view.layout_of_rows().rows(), 64U + 16);
}

/// Memory is bounded by the spans, drawing by the rows that there is room for: both are counted, not timed.
TEST(TimelineNodes, ThousandsOfRanksCostSpansAndVisibleRows) {
  for (const int nodes : {64, 256}) {
    const auto timeline = cluster(nodes, 8, 3);
    std::size_t bytes = 0;
    for (const TimelineLane& lane : timeline->lanes) bytes += lane.bytes();
    for (const TimelineNode& node : timeline->nodes) bytes += node.mean.bytes();
    EXPECT_LT(bytes, 48 * timeline->spans) << nodes;
    TimelineView view;
    view.resize(1200, 700);
    view.show();
    view.set_timeline(timeline);
    const int room = 700 / 15 + 1;
    view.grab();
    EXPECT_GT(view.rows_drawn(), 30);
    EXPECT_LE(view.rows_drawn(), room) << nodes;
    view.collapse_all(false);
    view.show_all();
    view.grab();
    EXPECT_EQ(view.layout_of_rows().rows(), static_cast<std::size_t>(nodes) * 17);
    EXPECT_LE(view.rows_drawn(), room) << nodes;
    view.setFocus();
    for (int i = 0; i < 400; ++i) QTest::keyClick(&view, Qt::Key_Down);
    view.grab();
    EXPECT_GT(view.rows_drawn(), 30) << "the rows below";
    EXPECT_LE(view.rows_drawn(), room) << nodes;
  }
}

}  // namespace
}  // namespace ddbench::gui
