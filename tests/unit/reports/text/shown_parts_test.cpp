#include "reports/text/shown_parts.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace ddbench::reports {
namespace {

TEST(RoundedToSum, SumsToTheRoundedSumForAnyValues) {
  std::mt19937_64 generator(3);
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<std::int64_t> values(1 + generator() % 10);
    for (std::int64_t& value : values) value = static_cast<std::int64_t>(generator() % 2'000'001) - 1'000'000;
    const std::int64_t quantum = 1 + static_cast<std::int64_t>(generator() % 5000);
    const std::vector<std::int64_t> rounded = rounded_to_sum(values, quantum);
    const std::int64_t sum = std::accumulate(values.begin(), values.end(), std::int64_t{0});
    const std::int64_t shown = std::accumulate(rounded.begin(), rounded.end(), std::int64_t{0}) * quantum;
    EXPECT_LE(std::abs(2 * (shown - sum)), quantum);
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_LT(std::abs(rounded[i] * quantum - values[i]), quantum);
  }
}

TEST(TimeScale, ShowsAllPartsInTheUnitOfTheLargest) {
  const TimeScale scale(103'421'000);
  EXPECT_EQ(scale.show_one(103'421'000, false), "103.4 ms");
  EXPECT_EQ(scale.show_one(-51'000, true), "-0.1 ms");
  EXPECT_EQ(scale.show_one(0, true), "0.0 ms");
  EXPECT_EQ(TimeScale(12'204'999).show_one(12'204'999, true), "+12.20 ms");
  EXPECT_EQ(TimeScale(999).show_one(999, false), "999 ns");
  EXPECT_EQ(TimeScale(1'500'000'000).show_one(1'499'000'000, false), "1.50 s");
}

TEST(TimeScale, ShowsPartsThatAddUp) {
  // Each alone would be rounded down to 0.3.
  EXPECT_EQ(TimeScale(100'000'000).show({333'333, 333'333, 333'334}, false),
            (std::vector<std::string>{"0.3 ms", "0.3 ms", "0.4 ms"}));
}

TEST(ShownPercents, AddUpToOneHundred) {
  EXPECT_EQ(shown_percents({1, 1, 1}, 3), (std::vector<std::string>{"33.4%", "33.3%", "33.3%"}));
  EXPECT_EQ(shown_percents({150, -50}, 100), (std::vector<std::string>{"150.0%", "-50.0%"}));
  EXPECT_EQ(shown_percents({1}, 0), (std::vector<std::string>{""}));
  constexpr std::int64_t kCentury_ns = 3'155'760'000'000'000'000;
  EXPECT_EQ(shown_percents({kCentury_ns / 4, kCentury_ns / 2, kCentury_ns / 4}, kCentury_ns),
            (std::vector<std::string>{"25.0%", "50.0%", "25.0%"})) << "of a store from anybody";
}

}  // namespace
}  // namespace ddbench::reports
