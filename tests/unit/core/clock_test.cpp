#include "core/clock.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "core/error.h"

namespace ddbench {
namespace {

TEST(ReadingFromPings, TakesTheShortestRoundTrip) {
  // reference = local + 1000; the second ping is the quickest and symmetric.
  const ClockReading reading = reading_from_pings({{0, 1900, 1000}, {2000, 3010, 2020}, {5000, 6040, 5200}});
  EXPECT_EQ(reading.offset_ns, 1000);
  EXPECT_EQ(reading.at_ns, 2010);
  EXPECT_EQ(reading.uncertainty_ns, 10);
}

TEST(ReadingFromPings, TruthLiesWithinTheUncertaintyForAnyDelays) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<std::int64_t> delay_ns(0, 200'000);
  for (int trial = 0; trial < 500; ++trial) {
    const std::int64_t true_offset_ns = delay_ns(random) * 1000 - 100'000'000;
    std::vector<PingSample> pings;
    std::int64_t local_ns = 1'000'000'000;
    for (int i = 0; i < 8; ++i) {
      const std::int64_t there_ns = delay_ns(random);
      const std::int64_t back_ns = delay_ns(random);
      pings.push_back({local_ns, local_ns + there_ns + true_offset_ns, local_ns + there_ns + back_ns});
      local_ns += 10'000'000;
    }
    const ClockReading reading = reading_from_pings(pings);
    EXPECT_LE(std::abs(reading.offset_ns - true_offset_ns), reading.uncertainty_ns);
  }
}

TEST(ReadingFromPings, RefusesNothingAndTheImpossible) {
  EXPECT_THROW(reading_from_pings({}), Error);
  EXPECT_THROW(reading_from_pings({{10, 5, 9}}), Error);
}

TEST(ClockMap, InterpolatesDriftBetweenTheReadingsAndHoldsOutside) {
  const ClockMap map{{1000, 100, 5}, {2000, 200, 9}, false};
  EXPECT_EQ(map.to_reference(0), 100);
  EXPECT_EQ(map.to_reference(1500), 1650);
  EXPECT_EQ(map.to_reference(3000), 3200);
  EXPECT_EQ(map.uncertainty_ns(), 9);
}

TEST(ClockMap, FollowsReadingsInBetweenAndIsLessCertainFarFromThem) {
  constexpr std::int64_t kSecond_ns = 1'000'000'000;
  const ClockMap map{{0, 0, 100}, {10 * kSecond_ns, 0, 300}, false, {{4 * kSecond_ns, 4000, 200}}};
  EXPECT_EQ(map.to_reference(2 * kSecond_ns), 2 * kSecond_ns + 2000);
  EXPECT_EQ(map.to_reference(4 * kSecond_ns), 4 * kSecond_ns + 4000);
  EXPECT_EQ(map.to_reference(7 * kSecond_ns), 7 * kSecond_ns + 2000);
  EXPECT_EQ(map.uncertainty_at_ns(4 * kSecond_ns), 200);
  EXPECT_EQ(map.uncertainty_at_ns(2 * kSecond_ns), 150 + 2000) << "1 us a second from the nearest reading";
  EXPECT_EQ(map.uncertainty_at_ns(11 * kSecond_ns), 300 + 1000);
  EXPECT_EQ(map.uncertainty_ns(), 300);
}

TEST(ClockMap, OneKernelHasOneClock) {
  const ClockMap map{{1000, 100, 5}, {2000, 200, 9}, true};
  EXPECT_EQ(map.to_reference(1500), 1500);
  EXPECT_EQ(map.uncertainty_ns(), 0);
}

TEST(Clock, RunsForward) {
  std::int64_t before_ns = now_ns();
  for (int i = 0; i < 10000; ++i) {
    const std::int64_t after_ns = now_ns();
    ASSERT_GE(after_ns, before_ns);
    before_ns = after_ns;
  }
  EXPECT_GT(wall_ns(), std::int64_t{1'600'000'000} * 1'000'000'000);
}

}  // namespace
}  // namespace ddbench
