#include "harness/launch/supervisor/root_cause.h"

#include <gtest/gtest.h>

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;

const RootCause::Time kStart = RootCause::Time() + 1000s;

TEST(RootCause, NothingHappened) {
  EXPECT_FALSE(RootCause().verdict(kStart));
}

TEST(RootCause, ADeathIsCertainAtOnce) {
  RootCause cause;
  cause.add(2, "died", true, kStart);
  ASSERT_TRUE(cause.verdict(kStart));
  EXPECT_EQ(cause.verdict(kStart)->rank, 2);
}

TEST(RootCause, ADeathBeatsTheBrokenConnectionsThatWereReportedBeforeIt) {
  RootCause cause;
  cause.add(0, "connection reset", false, kStart);
  cause.add(1, "connection reset", false, kStart + 1ms);
  EXPECT_FALSE(cause.verdict(kStart + 10ms));
  cause.add(2, "died", true, kStart + 20ms);
  cause.add(3, "died too", true, kStart + 21ms);
  EXPECT_EQ(cause.verdict(kStart + 30ms)->rank, 2);
}

TEST(RootCause, ABrokenConnectionIsTheCauseWhenNothingElseComes) {
  RootCause cause;
  cause.add(1, "connection reset", false, kStart);
  cause.add(0, "connection reset", false, kStart + 1ms);
  EXPECT_FALSE(cause.verdict(kStart + RootCause::kPatience - 1ms));
  EXPECT_EQ(cause.verdict(kStart + RootCause::kPatience)->rank, 1);
}

}  // namespace
}  // namespace ddbench::launch
