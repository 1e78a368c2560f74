#include "harness/microbench/lock_step.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/clock.h"
#include "forked_ranks.h"

namespace ddbench::micro {
namespace {

std::string timed_text(int rank, collective::KeyValueStore& store, double seconds, int slow_ms) {
  const auto communicator = collective::make_communicator("gloo", {.rank = rank, .world_size = 2}, store);
  std::int64_t calls = 0;
  const TimedBatches timed = time_in_lock_step(*communicator, seconds, [&] {
    // The ranks differ in what they take, and must not differ in what they do.
    std::this_thread::sleep_for(std::chrono::milliseconds(rank == 0 ? slow_ms : 1));
    ++calls;
  });
  return fmt::format("{} iterations, {} batches, {} calls", timed.iterations, timed.times_ns.size(), calls);
}

TEST(LockStep, AllRanksCallEquallyOften) {
  const auto outcomes = test::run_ranks(
      2, [](int rank, collective::KeyValueStore& store) { return timed_text(rank, store, 0.2, 3); });
  EXPECT_EQ(outcomes[0].text, outcomes[1].text);
  EXPECT_NE(outcomes[0].text.find("batches"), std::string::npos) << outcomes[0].text;
}

TEST(LockStep, AWorkLongerThanTheTimeIsDoneTwiceOnly) {
  const auto outcomes = test::run_ranks(
      2, [](int rank, collective::KeyValueStore& store) { return timed_text(rank, store, 0.001, 20); });
  // One call to get warm, one on trial, and two batches of one.
  EXPECT_EQ(outcomes[0].text, "1 iterations, 2 batches, 4 calls");
  EXPECT_EQ(outcomes[1].text, outcomes[0].text);
}

TEST(LockStep, EachBatchIsProgress) {
  const auto outcomes = test::run_ranks(2, [](int rank, collective::KeyValueStore& store) {
    const auto communicator = collective::make_communicator("gloo", {.rank = rank, .world_size = 2}, store);
    std::size_t marks = 0;
    const TimedBatches timed = time_in_lock_step(*communicator, 0.001, [] {}, {}, [&] { ++marks; });
    return fmt::format("{} more", marks - timed.times_ns.size());
  });
  // The call that warms up, and the batch on trial.
  EXPECT_EQ(outcomes[0].text, "2 more");
  EXPECT_EQ(outcomes[1].text, "2 more");
}

TEST(LockStep, TimesAreThoseOfAnIteration) {
  const auto outcomes = test::run_ranks(1, [](int rank, collective::KeyValueStore& store) {
    const auto communicator = collective::make_communicator("gloo", {.rank = rank, .world_size = 1}, store);
    const TimedBatches timed = time_in_lock_step(*communicator, 0.05, [] {
      const std::int64_t until_ns = now_ns() + 1'000'000;
      while (now_ns() < until_ns) {
      }
    });
    for (const double time_ns : timed.times_ns) {
      if (time_ns < 1e6) return fmt::format("{} ns", time_ns);
    }
    return fmt::format("{}", timed.times_ns.size() >= 2);
  });
  EXPECT_EQ(outcomes[0].text, "true");
}

}  // namespace
}  // namespace ddbench::micro
