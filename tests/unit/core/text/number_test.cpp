#include "core/text/number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace ddbench {
namespace {

TEST(Number, TheWholeTextIsANumber) {
  EXPECT_EQ(number_from<int>("42"), 42);
  EXPECT_EQ(number_from<int>("-7"), -7);
  EXPECT_EQ(number_from<double>("2.5e3"), 2500.0);
  for (const char* none : {"", " 1", "1 ", "+1", "1x", "x", "0x10", "1,5"}) {
    EXPECT_FALSE(number_from<int>(none)) << none;
    EXPECT_FALSE(number_from<double>(none)) << none;
  }
}

TEST(Number, WhatDoesNotFitIsNone) {
  EXPECT_EQ(number_from<std::int64_t>("9223372036854775807"), INT64_MAX);
  EXPECT_FALSE(number_from<std::int64_t>("9223372036854775808"));
  EXPECT_FALSE(number_from<std::uint32_t>("-1"));
  EXPECT_FALSE(number_from<int>("1.5"));
  for (const char* none : {"inf", "-inf", "nan", "1e999"}) EXPECT_FALSE(number_from<double>(none)) << none;
}

TEST(Number, ALeadingNumberHasARest) {
  const auto age = leading_number<double>("1.5h");
  ASSERT_TRUE(age);
  EXPECT_EQ(age->value, 1.5);
  EXPECT_EQ(age->rest, "h");
  EXPECT_EQ(leading_number<int>("7")->rest, "");
  EXPECT_FALSE(leading_number<int>("h7"));
  EXPECT_FALSE(leading_number<double>("infinite"));
}

}  // namespace
}  // namespace ddbench
