#include "analyzer/cost/deadline.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/error.h"

namespace ddbench::analyzer {
namespace {

class Deadline : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    ::tzset();
    std::tm monday{};  // 2026-11-23 12:30
    monday.tm_year = 126;
    monday.tm_mon = 10;
    monday.tm_mday = 23;
    monday.tm_hour = 12;
    monday.tm_min = 30;
    monday.tm_isdst = -1;
    now_ = std::mktime(&monday);
  }
  void TearDown() override {
    ::unsetenv("TZ");
    ::tzset();
  }
  std::time_t now_ = 0;
};

TEST_F(Deadline, HoursDaysAndTimes) {
  EXPECT_DOUBLE_EQ(hours_until("36", now_), 36);
  EXPECT_DOUBLE_EQ(hours_until("1.5h", now_), 1.5);
  EXPECT_DOUBLE_EQ(hours_until("Friday", now_), 4 * 24 + 11.5) << "its end";
  EXPECT_DOUBLE_EQ(hours_until("fri 18:00", now_), 4 * 24 + 5.5);
  for (const char* text : {"thursday 18:00", "Thursday 18:00", "Thu 18:00"}) EXPECT_DOUBLE_EQ(hours_until(text, now_), 3 * 24 + 5.5);
  EXPECT_DOUBLE_EQ(hours_until("mon", now_), 11.5);
  EXPECT_DOUBLE_EQ(hours_until("mon 12:00", now_), 7 * 24 - 0.5) << "today's has passed";
  EXPECT_DOUBLE_EQ(hours_until("2026-11-27", now_), 4 * 24 + 11.5);
  EXPECT_DOUBLE_EQ(hours_until("2026-11-27T18:00", now_), 4 * 24 + 5.5);
  EXPECT_DOUBLE_EQ(hours_until("2027-06-01 12:30", now_), 190 * 24 - 1) << "summer time in between";
}

TEST_F(Deadline, WhatIsNoDeadlineIsRefused) {
  for (const char* text : {"", "soon", "0", "-3", "nan", "fri 25:00", "fri 18", "2026-02-30", "2026-13-01", "2026-11-22", "2026-11-23 12:30", "27.11.2026", "h", " ", "T12:00"})
    EXPECT_THROW((void)hours_until(text, now_), Error) << text;
}

}  // namespace
}  // namespace ddbench::analyzer
