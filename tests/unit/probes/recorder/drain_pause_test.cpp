#include <gtest/gtest.h>

#include "probes/recorder/drain.h"

namespace ddbench::host {
namespace {

using std::chrono::microseconds;

TEST(NextPause, RestsWhileNothingComes) {
  microseconds pause{0};
  for (int round = 0; round < 20; ++round) pause = next_pause(pause, 0.0);
  EXPECT_EQ(pause, microseconds(20'000));
}

TEST(NextPause, DoesNotSleepBesideAFullRing) {
  EXPECT_EQ(next_pause(microseconds(20'000), 0.5), microseconds(0));
}

TEST(NextPause, SettlesWhereARingIsNeverNearlyFull) {
  // Spans that fill a ring in 40 ms.
  microseconds pause{20'000};
  for (int round = 0; round < 50; ++round)
    pause = next_pause(pause, static_cast<double>(pause.count()) / 40'000);
  EXPECT_LT(pause, microseconds(10'000));
  EXPECT_GT(pause, microseconds(500));
}

}  // namespace
}  // namespace ddbench::host
