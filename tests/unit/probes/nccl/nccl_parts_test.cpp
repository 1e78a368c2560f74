#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "probes/nccl/device_clock.h"
#include "probes/nccl/operations.h"
#include "probes/nccl/sample_windows.h"

namespace ddbench::nccl {
namespace {

TEST(DeviceClock, TheLeastDelayedPairCounts) {
  DeviceClock clock;
  EXPECT_FALSE(clock.known());
  clock.observe(1'000, 501'000);  // seen 300 late
  clock.observe(2'000, 501'700);
  clock.observe(3'000, 503'900);
  EXPECT_EQ(clock.to_host(2'000), 501'700);
}

TEST(DeviceClock, FollowsAClockThatDrifts) {
  DeviceClock clock;
  constexpr std::int64_t kSecond = 1'000'000'000;
  // The host's clock gains 10 us a second on the device's: an offset of the start is soon too small.
  for (std::int64_t second = 0; second < 100; ++second) {
    clock.observe(second * kSecond, second * (kSecond + 10'000) + 500);
  }
  const std::int64_t error = 99 * (kSecond + 10'000) - clock.to_host(99 * kSecond);
  EXPECT_LE(std::abs(error), 500) << "that by which each pair is late";
}

TEST(DeviceClock, FollowsFastDriftFromPairsOfWhichFewAreGood) {
  DeviceClock clock;
  const auto host_of = [](std::int64_t device) { return device + device / 20'000; };  // 50 ppm
  std::int64_t worst = 0;
  for (std::int64_t pair = 0; pair < 10'000; ++pair) {
    const std::int64_t device = pair * 10'000'000;
    clock.observe(device, host_of(device) + (pair % 10 == 0 ? 5'000 : 400'000));
    if (pair > 10) worst = std::max(worst, std::abs(clock.to_host(device) - host_of(device)));
  }
  EXPECT_LE(worst, 15'000) << "the good pairs' delay, and what drift can be until the next of them";
}

TEST(DeviceClock, PairsThatAreMuchTooLateMoveItByNoMoreThanDrift) {
  DeviceClock clock;
  clock.observe(1'000'000'000, 1'500'000'000);
  EXPECT_EQ(clock.to_host(1'000'000'000), 1'500'000'000);
  clock.observe(1'000'000'000, 2'500'000'000);  // one second later, the same timer
  EXPECT_EQ(clock.to_host(2'000'000'000), 2'500'100'000);
  EXPECT_EQ(clock.latest(2'000'000'000, 3'500'000'000), 2'500'200'000);
}

TEST(SampleWindow, IsOnAndPeriodInMilliseconds) {
  const auto window = parse_sample_window("100/1000");
  ASSERT_TRUE(window);
  EXPECT_EQ(window->on.count(), 100);
  EXPECT_EQ(window->period.count(), 1000);
  for (const char* const wrong : {"", "100", "100/", "/100", "100/100", "200/100", "-1/5", "1/x", "0/10"}) {
    EXPECT_FALSE(parse_sample_window(wrong)) << wrong;
  }
}

TEST(SampleWindows, SwitchOffAndOnAgain) {
  std::atomic<int> on{0};
  std::atomic<int> off{0};
  {
    const SampleWindows windows({std::chrono::milliseconds(5), std::chrono::milliseconds(10)},
                                [&](bool is_on) { ++(is_on ? on : off); });
    for (int waited = 0; waited < 500 && (on == 0 || off == 0); ++waited) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  EXPECT_GT(off, 0);
  EXPECT_GT(on, 0);
}

TEST(SizeOfType, OfAllOfNccl) {
  EXPECT_EQ(size_of_type("ncclInt8"), 1u);
  EXPECT_EQ(size_of_type("ncclUint8"), 1u);
  EXPECT_EQ(size_of_type("ncclInt32"), 4u);
  EXPECT_EQ(size_of_type("ncclUint32"), 4u);
  EXPECT_EQ(size_of_type("ncclInt64"), 8u);
  EXPECT_EQ(size_of_type("ncclUint64"), 8u);
  EXPECT_EQ(size_of_type("ncclFloat16"), 2u);
  EXPECT_EQ(size_of_type("ncclFloat32"), 4u);
  EXPECT_EQ(size_of_type("ncclFloat64"), 8u);
  EXPECT_EQ(size_of_type("ncclBfloat16"), 2u);
  EXPECT_EQ(size_of_type("ncclFloat8e4m3"), 1u);
  EXPECT_EQ(size_of_type("ncclFloat8e5m2"), 1u);
  EXPECT_EQ(size_of_type("ncclUnknown"), 0u);
}

TEST(Handle, ComesBackAsItWas) {
  const Handle handle{kKernelCh, 200, 0xFFFF'FFFFu, Operations::kSlots - 1};
  const Handle back = Handle::decode(handle.encoded());
  EXPECT_EQ(back.type, kKernelCh);
  EXPECT_EQ(back.channel, 200);
  EXPECT_EQ(back.generation, 0xFFFF'FFFFu);
  EXPECT_EQ(back.slot, Operations::kSlots - 1);
}

}  // namespace
}  // namespace ddbench::nccl
