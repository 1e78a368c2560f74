#include "harness/model/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ddbench::workload {
namespace {

TEST(Random, IsSplitMix64) {
  // The reference generator started at 0 gives 0xE220A8397B1DCDAF first (Vigna's splitmix64.c).
  EXPECT_EQ(mix_bits(0), 0xE220A8397B1DCDAFULL);
}

TEST(Random, EqualSeedsAndStreamsGiveEqualNumbersAndOthersDoNot) {
  Random a(7, 1), b(7, 1), other_stream(7, 2), other_seed(8, 1);
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t bits = a.bits();
    EXPECT_EQ(bits, b.bits());
    EXPECT_NE(bits, other_stream.bits());
    EXPECT_NE(bits, other_seed.bits());
  }
}

TEST(Random, UniformFillsItsInterval) {
  Random random(1);
  constexpr int kDraws = 100'000;
  double sum = 0;
  float least = 1, most = 0;
  for (int i = 0; i < kDraws; ++i) {
    const float value = random.uniform();
    sum += value;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  EXPECT_GE(least, 0);
  EXPECT_LT(most, 1);
  EXPECT_LT(least, 1e-3);
  EXPECT_GT(most, 1 - 1e-3);
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * std::sqrt(1.0 / 12 / kDraws));
}

TEST(Random, BelowIsUniform) {
  Random random(2);
  constexpr int kBound = 7, kDraws = 70'000;
  std::vector<int> counts(kBound);
  for (int i = 0; i < kDraws; ++i) ++counts.at(random.below(kBound));
  for (const int count : counts) EXPECT_NEAR(count, kDraws / kBound, 5 * std::sqrt(kDraws / kBound));
  EXPECT_EQ(random.below(1), 0U);
  const std::uint64_t huge = (std::uint64_t{1} << 63) + 1;  // nearly half of all numbers are drawn again
  for (int i = 0; i < 1000; ++i) EXPECT_LT(random.below(huge), huge);
}

TEST(Random, NormalHasMeanZeroAndVarianceOne) {
  Random random(3);
  constexpr int kDraws = 100'000;
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double value = random.normal();
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / kDraws, 0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1, 5 * std::sqrt(2.0 / kDraws));
}

}  // namespace
}  // namespace ddbench::workload
