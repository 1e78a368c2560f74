#include <gtest/gtest.h>

#include <QTest>
#include <algorithm>
#include <random>

#include "core/program/device_span.h"
#include "gui/timeline/timeline_axis.h"
#include "gui/timeline/timeline_view.h"
#include "gui_window.h"

namespace ddbench::gui {
namespace {

struct Truth {
  std::vector<Span> spans;  ///< of rank 0
  Timeline timeline;
};

/// Spans of 20 ns to 4 ms one after another on each of two lanes, given in any order.
Truth random_timeline(unsigned seed, int count) {
  std::mt19937 random(seed);
  Truth truth;
  const std::vector<std::string> names{"gemm", "all_reduce", "relu"};
  std::int64_t ends[2] = {5'000'000, 5'000'000};
  for (int i = 0; i < count; ++i) {
    Span span;
    span.lane = i % 3 == 0 ? Lane::kCommunication : Lane::kMain;
    span.kind = static_cast<SpanKind>(1 + random() % 8);
    span.name_id = static_cast<std::uint32_t>(random() % 3);
    span.step = static_cast<std::uint32_t>(i / 10);
    std::int64_t& end = ends[i % 3 == 0 ? 0 : 1];
    span.begin_ns = end + static_cast<std::int64_t>(random() % 200'000);
    span.end_ns = end = span.begin_ns + (20LL << (random() % 18)) - static_cast<std::int64_t>(random() % 20);
    truth.spans.push_back(span);
  }
  std::shuffle(truth.spans.begin(), truth.spans.end(), random);
  store::RankRecord rank;
  rank.clock.shared_clock = true;
  TimelineBuilder builder;
  builder.add_rank(rank, truth.spans, names);
  truth.timeline = builder.finish();
  return truth;
}

/// Nanoseconds of [from, to) that spans of this lane and kind cover, each counted.
double covered_ns(const Truth& truth, Lane lane, SpanKind kind, double from, double to) {
  double sum = 0;
  for (const Span& span : truth.spans) {
    if (span.lane != lane || span.kind != kind) continue;
    sum += std::max(0.0, std::min(to, static_cast<double>(span.end_ns)) -
                             std::max(from, static_cast<double>(span.begin_ns)));
  }
  return sum;
}

TEST(TimelineRows, EachDeviceAndStreamHasARow) {
  std::vector<Span> spans(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    spans[i].begin_ns = 1'000;
    spans[i].end_ns = 2'000;
    spans[i].kind = SpanKind::kCompute;
    spans[i].lane = i == 2 ? Lane::kMain : Lane::kDeviceCompute;
    spans[i].reserved = i == 2 ? 0 : device_queue(i, 7);
  }
  TimelineBuilder builder;
  builder.add_rank({}, spans, std::vector<std::string>{"gemm"});
  const Timeline timeline = builder.finish();
  ASSERT_EQ(timeline.lanes.size(), 3U);
  EXPECT_EQ(timeline.lane_title(0), "rank 0 main");
  EXPECT_EQ(timeline.lane_title(1), "rank 0 device compute GPU 0 stream 7");
  EXPECT_EQ(timeline.lane_title(2), "rank 0 device compute GPU 1 stream 7");
}

TEST(TimelineRows, CoverWhatTheSpansCoverAtEveryScale) {
  const Truth truth = random_timeline(7, 4000);
  const Timeline& timeline = truth.timeline;
  ASSERT_EQ(timeline.lanes.size(), 2U);
  TimelineRow row;
  const auto whole = static_cast<double>(timeline.end_ns - timeline.begin_ns);
  for (const double share : {1.0, 0.4, 0.05, 0.01}) {
    const double begin = static_cast<double>(timeline.begin_ns) + (1 - share) * 0.37 * whole;
    const TimeWindow window{begin, begin + share * whole, 400};
    for (std::size_t lane = 0; lane < 2; ++lane) {
      row.fill(timeline, lane, window);
      for (int kind = 1; kind < kSpanKindCount; ++kind) {
        double drawn = 0;
        for (int column = 0; column < window.columns; ++column) {
          drawn +=
              static_cast<double>(row.shares()[static_cast<std::size_t>(column * kSpanKindCount + kind)]);
        }
        for (const TimelineRow::Wide& wide : row.wide()) {
          const SpanClass& spans = timeline.lanes[lane].classes[wide.place.span_class];
          if (spans.kind[wide.place.index] == static_cast<SpanKind>(kind)) drawn += wide.to - wide.from;
        }
        const double truly = covered_ns(truth, timeline.lanes[lane].lane, static_cast<SpanKind>(kind), begin,
                                        begin + share * whole) /
                             window.ns_per_column();
        // Shares are rounded upwards, and short spans are made a quarter of a column wide; several spans of
        // one kind at one instant count as one in a full bucket.
        EXPECT_NEAR(drawn, truly, 0.15 * truly + 12)
            << "share " << share << " lane " << lane << " kind " << kind;
      }
    }
  }
}

TEST(TimelineRows, NothingIsDrawnWhereNothingWas) {
  Truth truth;
  Span span;
  span.begin_ns = 1000;
  span.end_ns = 2000;
  Span late = span;
  late.begin_ns = 1'000'000;
  late.end_ns = 1'000'400;
  store::RankRecord rank;
  TimelineBuilder builder;
  const std::vector<Span> spans{span, late};
  builder.add_rank(rank, spans, {});
  const Timeline timeline = builder.finish();
  TimelineRow row;
  const TimeWindow window{1000, 1'000'400, 100};
  row.fill(timeline, 0, window);
  for (int column = 2; column < 98; ++column) {
    for (int kind = 0; kind < kSpanKindCount; ++kind) {
      EXPECT_EQ(row.shares()[static_cast<std::size_t>(column * kSpanKindCount + kind)], 0) << column;
    }
  }
  EXPECT_GT(
      row.shares()[static_cast<std::size_t>(99 * kSpanKindCount) + static_cast<std::size_t>(SpanKind::kHost)],
      0);
}

TEST(Timelines, FindTheSpanAtAPlaceAsAScanOfAllDoes) {
  const Truth truth = random_timeline(11, 600);
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t at = 4'900'000 + static_cast<std::int64_t>(random() % 150'000'000);
    const std::size_t lane = random() % 2;
    const auto found = span_at(truth.timeline, lane, at, 0);
    bool any = false;
    for (const Span& span : truth.spans) {
      any |= span.lane == truth.timeline.lanes[lane].lane && span.begin_ns <= at && at <= span.end_ns;
    }
    ASSERT_EQ(found != nullptr, any) << at;
    if (!found) continue;
    EXPECT_LE(begin_of(truth.timeline, *found), at);
    EXPECT_GE(end_of(truth.timeline, *found), at);
  }
}

TEST(Timelines, MatchesFollowEachOtherInTime) {
  const Truth truth = random_timeline(13, 300);
  const SpanFilter matching = search_spans(truth.timeline, "relu");
  std::vector<std::int64_t> expected;
  for (const Span& span : truth.spans) {
    if (span.name_id == 2) expected.push_back(span.begin_ns);
  }
  std::sort(expected.begin(), expected.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  std::int64_t at = 0;
  for (const std::int64_t begin : expected) {
    const auto next = next_match(truth.timeline, matching, at, false);
    ASSERT_NE(next, nullptr);
    at = begin_of(truth.timeline, *next);
    EXPECT_EQ(at, begin);
  }
  EXPECT_EQ(next_match(truth.timeline, matching, at, false), nullptr);
  const auto back = next_match(truth.timeline, matching, at, true);
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(begin_of(truth.timeline, *back), expected[expected.size() - 2]);
}

TEST(Timelines, OpenAtTheFirstMeasuredStep) {
  Timeline timeline = random_timeline(17, 500).timeline;
  const std::int64_t begin_ns = timeline.begin_ns;
  timeline.steps = {{0, begin_ns + 500}, {1, begin_ns + 90'000}, {2, begin_ns + 120'000}};
  timeline.first_measured = 1;
  TimelineView view;
  view.resize(900, 400);
  view.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&view));
  view.set_timeline(std::make_shared<const Timeline>(std::move(timeline)));
  EXPECT_DOUBLE_EQ(view.window().begin_ns, static_cast<double>(begin_ns + 90'000));
  view.setFocus();
  QTest::keyClick(&view, Qt::Key_Home);
  EXPECT_DOUBLE_EQ(view.window().begin_ns, static_cast<double>(begin_ns));
}

TEST(Timelines, ZoomMoveSearchAndMeasureWithTheKeyboard) {
  TimelineView view;
  view.resize(900, 400);
  view.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&view));
  view.set_timeline(std::make_shared<const Timeline>(random_timeline(17, 500).timeline));
  const TimeWindow whole = view.window();
  view.setFocus();
  QTest::keyClick(&view, Qt::Key_Plus);
  EXPECT_NEAR(view.window().end_ns - view.window().begin_ns, (whole.end_ns - whole.begin_ns) / 2, 2);
  const double begin = view.window().begin_ns;
  QTest::keyClick(&view, Qt::Key_Right);
  EXPECT_GT(view.window().begin_ns, begin);
  EXPECT_EQ(view.search(QStringLiteral("RED")), 1);
  QTest::keyClick(&view, Qt::Key_N);
  ASSERT_TRUE(view.selected());
  const auto& spans = view.timeline().lanes[view.selected()->lane].classes[view.selected()->span_class];
  EXPECT_EQ(view.timeline().names[spans.name[view.selected()->index]], "all_reduce");
  QTest::keyClick(&view, Qt::Key_Home);
  QTest::keyClick(&view, Qt::Key_M);
  QTest::keyClick(&view, Qt::Key_Plus);
  QTest::keyClick(&view, Qt::Key_Right);
  QTest::keyClick(&view, Qt::Key_M);
  ASSERT_TRUE(view.measured());
  EXPECT_GT(view.measured()->to_ns, view.measured()->from_ns);
  EXPECT_FALSE(view.measured_text().isEmpty());
  QTest::keyClick(&view, Qt::Key_Escape);
  EXPECT_FALSE(view.measured());
  for (int i = 0; i < 60; ++i) QTest::keyClick(&view, Qt::Key_Plus);
  view.grab();  // at 50 ns wide
  EXPECT_NEAR(view.window().end_ns - view.window().begin_ns, 50, 1);
}

TEST(Timelines, LabelTheAxisOfAFewNanosecondsAnHourIntoARun) {
  constexpr double kZero_ns = 5e12;
  for (const double length : {50.0, 500.0, 3'000.0, 2e9, 7.2e12}) {
    const TimeWindow seen{kZero_ns + 3.6e12 + 123, kZero_ns + 3.6e12 + 123 + length, 900};
    const std::vector<TimeTick> ticks = time_ticks(seen, kZero_ns, 8);
    ASSERT_GE(ticks.size(), 3U) << length;
    EXPECT_LE(ticks.size(), 9U) << length;
    const double apart = ticks[1].at_ns - ticks[0].at_ns;
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      EXPECT_GE(ticks[i].at_ns, seen.begin_ns - apart / 1000) << length;
      EXPECT_LE(ticks[i].at_ns, seen.end_ns + apart / 1000) << length;
      if (i == 0) continue;
      EXPECT_NEAR(ticks[i].at_ns - ticks[i - 1].at_ns, apart, 0.01) << length;
      EXPECT_NE(ticks[i].text, ticks[i - 1].text) << length;
    }
  }
  EXPECT_EQ(time_ticks({kZero_ns + 3.6e12, kZero_ns + 3.6e12 + 500, 900}, kZero_ns, 8)[1].text, QStringLiteral("3600.0000001 s"));
  EXPECT_TRUE(time_ticks({0x1p57, 0x1p57, 900}, 0, 8).empty()) << "no window at all";
}

TEST(Timelines, SayDurationsWithTheDigitsThatTheScaleDistinguishes) {
  EXPECT_EQ(duration_text(0, 1), QStringLiteral("0"));
  EXPECT_EQ(duration_text(1.5e9, 1e8), QStringLiteral("1.5 s"));
  EXPECT_EQ(duration_text(12'345'678, 1e4), QStringLiteral("12.35 ms"));
  EXPECT_EQ(duration_text(-2500, 100), QStringLiteral("-2.5 µs"));
  EXPECT_EQ(duration_text(42, 1), QStringLiteral("42 ns"));
}

}  // namespace
}  // namespace ddbench::gui
