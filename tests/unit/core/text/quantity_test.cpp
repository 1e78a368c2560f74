#include "core/text/quantity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace ddbench {
namespace {

TEST(Quantity, ScalesUnitsForPeople) {
  EXPECT_EQ(quantity(12'345'678, "ns"), "12.3 ms");
  EXPECT_EQ(quantity(999.97, "ns"), "1.00 µs");
  EXPECT_EQ(quantity(1.5e9, "B"), "1.50 GB");
  EXPECT_EQ(quantity(2.5e8, "B/s"), "250 MB/s");
  EXPECT_EQ(quantity(0.25, "ms"), "250 µs");
  EXPECT_EQ(quantity(0.5, "1"), "0.500");
  EXPECT_EQ(quantity(80, "%"), "80.0%");
  EXPECT_EQ(quantity(-3e6, "ns", true), "-3.00 ms");
  EXPECT_EQ(quantity(3e6, "ns", true), "+3.00 ms");
  EXPECT_EQ(number(1234567), "1,234,567");
  EXPECT_EQ(number(0), "0");
  EXPECT_EQ(number(std::nan("")), "n/a");
}

TEST(SignedPercent, HasOneDecimalAndAnEnd) {
  EXPECT_EQ(signed_percent(0.0314), "+3.1%");
  EXPECT_EQ(signed_percent(-0.4), "-40.0%");
  EXPECT_EQ(signed_percent(-0.0001), "+0.0%");
  EXPECT_EQ(signed_percent(100), "+10000.0%");
  EXPECT_EQ(signed_percent(1e50), "over +10000%");
}

TEST(Quantity, UncertaintiesHaveTwoDigitsAndNoExponent) {
  for (const auto& [value, text] : std::vector<std::pair<double, std::string>>{
           {0, "0"}, {0.08, "0.08"}, {0.0834, "0.083"}, {2, "2"}, {9.94, "9.9"}, {9.96, "10"}, {12, "12"}, {110.4, "110"}, {-110.4, "-110"}, {12345, "12,345"}})
    EXPECT_EQ(uncertainty(value), text);
}

}  // namespace
}  // namespace ddbench
