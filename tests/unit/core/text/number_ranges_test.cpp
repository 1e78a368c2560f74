#include "core/text/number_ranges.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace ddbench {
namespace {

TEST(NumberRanges, AListOfNumbersAndRanges) {
  const auto set = number_ranges_from("0-3,8", {0, 8});
  ASSERT_TRUE(set);
  for (const int number : {0, 1, 2, 3, 8}) EXPECT_TRUE(set->contains(number)) << number;
  for (const int number : {-1, 4, 7, 9}) EXPECT_FALSE(set->contains(number)) << number;
  EXPECT_FALSE(NumberRanges().contains(0));
}

TEST(NumberRanges, AreSortedAndJoined) {
  const auto set = number_ranges_from("9,4-6,0-2,3,5", {0, 9});
  ASSERT_TRUE(set);
  EXPECT_EQ(set->ranges(), (std::vector<NumberRange>{{0, 6}, {9, 9}}));
}

TEST(NumberRanges, WhatIsNoListIsRefused) {
  for (const char* none : {"", ",", "1,", ",1", "a", "1-", "-1", "--", "3-1", "1-2-3", "1 ", " 1", "0-8", "8", "1.5", "99999999999999999999"})
    EXPECT_FALSE(number_ranges_from(none, {0, 7})) << none;
  EXPECT_TRUE(number_ranges_from("0-9223372036854775807", {0, INT64_MAX}));
  EXPECT_TRUE(number_ranges_from("9223372036854775807,0", {0, INT64_MAX}));
}

}  // namespace
}  // namespace ddbench
