#include "probes/machine/run_queue.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace ddbench::host {
namespace {

TEST(RunQueueDelay, GrowsWhileThreadsShareACore) {
  const RunQueueDelay delay(own_thread());
  const auto before = delay.read_ns();
  if (!before) GTEST_SKIP() << before.reason();
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int core = 0;
  while (!CPU_ISSET(core, &allowed)) ++core;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  std::atomic<bool> done{false};
  std::thread other([&] {
    ::sched_setaffinity(0, sizeof one, &one);
    while (!done) {
    }
  });
  ::sched_setaffinity(0, sizeof one, &one);
  // Until the scheduler has let the other thread run before this one, whenever that is.
  std::int64_t waited_ns = 0;
  while (waited_ns < 1'000'000) waited_ns = *delay.read_ns() - *before;
  done = true;
  other.join();
  ::sched_setaffinity(0, sizeof allowed, &allowed);
  EXPECT_GE(waited_ns, 1'000'000);
}

TEST(RunQueueDelay, OfAThreadThatIsNotThereIsMissing) {
  const auto delay_ns = RunQueueDelay(0).read_ns();
  ASSERT_FALSE(delay_ns);
  EXPECT_FALSE(delay_ns.reason().empty());
}

TEST(ListThreads, HasTheCallersAndNewOnes) {
  const std::vector<int> threads = list_threads();
  EXPECT_NE(std::find(threads.begin(), threads.end(), own_thread()), threads.end());
}

}  // namespace
}  // namespace ddbench::host
