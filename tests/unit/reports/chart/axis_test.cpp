#include "reports/chart/axis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "reports/chart/text_metrics.h"

namespace ddbench::reports::svg {
namespace {

void expect_sound(const ValueAxis& axis, double low, double high) {
  EXPECT_LE(axis.low, low);
  EXPECT_GE(axis.high, high);
  ASSERT_GE(axis.ticks.size(), 2u);
  std::set<std::string> texts;
  double previous = -INFINITY;
  for (const Tick& tick : axis.ticks) {
    EXPECT_GT(tick.value, previous);
    EXPECT_GE(axis.position(tick.value), -1e-6);
    EXPECT_LE(axis.position(tick.value), 1 + 1e-6);
    EXPECT_TRUE(texts.insert(tick.text).second) << tick.text << " twice";
    previous = tick.value;
  }
}

TEST(LinearAxis, HoldsAnyRangeWithFewRoundTicks) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> exponent(-9, 12);
  std::uniform_real_distribution<double> fraction(0, 1);
  for (int i = 0; i < 3000; ++i) {
    const double size = std::pow(10, exponent(random));
    const double low = (fraction(random) - 0.5) * size;
    const double high = low + fraction(random) * size + size * 1e-3;
    const ValueAxis axis = make_axis({low, high, false, false, 6, {}});
    expect_sound(axis, low, high);
    EXPECT_LE(axis.ticks.size(), 8u);
  }
}

TEST(LinearAxis, WidensAPointAndReachesZeroWhenAsked) {
  expect_sound(make_axis({5, 5, false, false, 6, {}}), 5, 5);
  expect_sound(make_axis({0, 0, false, true, 6, {}}), 0, 0);
  const ValueAxis axis = make_axis({61, 99, false, true, 5, {}});
  EXPECT_EQ(axis.low, 0);
  EXPECT_EQ(axis.ticks.front().text, "0");
  EXPECT_EQ(axis.ticks[1].text, "25");
}

TEST(LogAxis, HasTicksInEveryRange) {
  for (const double low : {1e-6, 0.3, 1.0, 7.0, 1e5}) {
    for (const double ratio : {1.0, 1.5, 8.0, 1e3, 1e9}) {
      const ValueAxis axis = make_axis({low, low * ratio, true, false, 5, "1"});
      EXPECT_LE(axis.low, low);
      EXPECT_GE(axis.high, low * ratio);
      EXPECT_GE(axis.ticks.size(), ratio > 1 ? 2u : 1u);
      EXPECT_LE(axis.ticks.size(), 9u);
      EXPECT_NEAR(axis.position(low * std::sqrt(ratio)), 0.5, 1e-9);
    }
  }
}

TEST(LogAxis, GivesEachTickAUnitOfItsOwn) {
  const ValueAxis axis = make_axis({1e3, 1e9, true, false, 6, "B"});
  EXPECT_EQ(axis.ticks.front().text, "1 kB");
  EXPECT_EQ(axis.ticks.back().text, "1 GB");
}

TEST(AxisAtValues, TicksWhereTheValuesAre) {
  const ValueAxis axis = axis_at_values({1, 2, 4, 8, 16}, true, "1");
  ASSERT_EQ(axis.ticks.size(), 5u);
  EXPECT_EQ(axis.ticks[3].text, "8");
  EXPECT_NEAR(axis.position(4), 0.5, 1e-9);
  EXPECT_GT(axis.position(1), 0);
  EXPECT_LT(axis_at_values({7}, false, "").position(7), 1);
  const ValueAxis widest = axis_at_values({1e-300, 1e199}, true, "");
  EXPECT_GT(widest.low, 0);
  EXPECT_LT(widest.high, std::numeric_limits<double>::infinity());
}

TEST(FitText, KeepsToItsWidth) {
  const std::string text = "a rather long label of a collective 名前 🚀";
  for (double width = 20; width < 400; width += 7)
    EXPECT_LE(text_width(fit_text(text, width, 12), 12), width + 1e-9);
  EXPECT_EQ(fit_text("short", 400, 12), "short");
}

TEST(WrapText, BreaksAtSpacesAndLosesNothing) {
  const std::string text =
      "oversubscribed: 16 ranks share 2 cores: at best 12.5% efficiency can be seen here";
  std::string joined;
  for (const std::string& line : wrap_text(text, 150, 12)) {
    EXPECT_LE(text_width(line, 12), 150);
    joined += (joined.empty() ? "" : " ") + line;
  }
  EXPECT_EQ(joined, text);
  EXPECT_EQ(wrap_text("onelongwordwithoutanyspaceatall", 60, 12).size() > 1, true);
  EXPECT_EQ(wrap_text(text, 100, 12, 2).size(), 2u);
  EXPECT_TRUE(wrap_text("", 100, 12).empty());
}

}  // namespace
}  // namespace ddbench::reports::svg
