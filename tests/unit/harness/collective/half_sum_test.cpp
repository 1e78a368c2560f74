#include "harness/collective/half_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "sixteen_bits.h"

namespace ddbench::collective {
namespace {

using test::nearest;
using test::value_of;

class Halves : public testing::TestWithParam<ElementType> {};
INSTANTIATE_TEST_SUITE_P(Types, Halves, testing::Values(ElementType::kFloat16, ElementType::kBfloat16));

std::vector<std::uint16_t> sum(ElementType type, const std::vector<std::uint16_t>& left,
                               const std::vector<std::uint16_t>& right) {
  std::vector<std::uint16_t> out(left.size());
  sum_function(type)(out.data(), left.data(), right.data(), out.size());
  return out;
}

void expect_sum(ElementType type, std::uint16_t left, std::uint16_t right, std::uint16_t got) {
  const double a = value_of(type, left);
  const double b = value_of(type, right);
  const auto wanted = static_cast<double>(static_cast<float>(a) + static_cast<float>(b));
  if (std::isfinite(wanted)) {
    ASSERT_EQ(got, nearest(type, wanted)) << a << " + " << b;
  } else {
    const double value = value_of(type, got);
    ASSERT_TRUE(std::isnan(wanted) ? std::isnan(value) : value == wanted)
        << a << " + " << b << " = " << value;
  }
}

TEST_P(Halves, EveryNumberPlusNothingIsItself) {
  std::vector<std::uint16_t> all(0x10000);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  const auto out = sum(GetParam(), all, std::vector<std::uint16_t>(all.size(), 0x8000));  // -0
  for (std::size_t i = 0; i < all.size(); ++i) expect_sum(GetParam(), all[i], 0x8000, out[i]);
}

TEST_P(Halves, SumsAreRoundedToTheNearestTiesToEven) {
  std::mt19937 random(7);
  std::vector<std::uint16_t> left(200'000);
  std::vector<std::uint16_t> right(left.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] = static_cast<std::uint16_t>(random());
    // Exponents close to each other, where sums must round.
    right[i] = static_cast<std::uint16_t>(left[i] + random() % 0x1800 - 0xC00) ^ (random() % 2 << 15);
  }
  const auto out = sum(GetParam(), left, right);
  for (std::size_t i = 0; i < left.size(); ++i) expect_sum(GetParam(), left[i], right[i], out[i]);
}

TEST_P(Halves, ShortBlocksGiveTheSameBitsAsLongOnes) {
  std::mt19937 random(8);
  std::vector<std::uint16_t> left(1000);
  std::vector<std::uint16_t> right(left.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] = static_cast<std::uint16_t>(random() & 0xBFFF);  // no NaN
    right[i] = static_cast<std::uint16_t>(random() & 0xBFFF);
  }
  const auto whole = sum(GetParam(), left, right);
  for (std::size_t i = 0; i < left.size(); ++i)
    EXPECT_EQ(sum(GetParam(), {left[i]}, {right[i]})[0], whole[i]);
}

TEST_P(Halves, TheSumMayBeOneOfItsParts) {
  std::vector<std::uint16_t> left(19);
  std::vector<std::uint16_t> right(19);
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] = nearest(GetParam(), static_cast<double>(i));
    right[i] = nearest(GetParam(), 0.5);
  }
  const auto wanted = sum(GetParam(), left, right);
  sum_function(GetParam())(right.data(), left.data(), right.data(), right.size());
  EXPECT_EQ(right, wanted);
}

}  // namespace
}  // namespace ddbench::collective
