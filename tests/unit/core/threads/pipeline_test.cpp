#include "core/threads/pipeline.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ddbench {
namespace {

TEST(Pipeline, ConsumesInOrderWhatTheThreadsMade) {
  for (const std::size_t threads : {1, 2, 7, 100}) {
    const std::thread::id caller = std::this_thread::get_id();
    std::vector<std::string> consumed;
    std::size_t under_way = 0, most_under_way = 0;
    pipeline(
        50, threads,
        [&](std::size_t i) {
          EXPECT_EQ(std::this_thread::get_id(), caller);
          most_under_way = std::max(most_under_way, ++under_way);
          return static_cast<int>(i) * 10;
        },
        [](std::size_t i, int input) { return std::to_string(i) + ":" + std::to_string(input); },
        [&](std::size_t i, std::string result) {
          EXPECT_EQ(std::this_thread::get_id(), caller);
          EXPECT_EQ(i, consumed.size());
          --under_way;
          consumed.push_back(std::move(result));
        });
    ASSERT_EQ(consumed.size(), 50u);
    EXPECT_EQ(consumed[49], "49:490");
    EXPECT_EQ(most_under_way, std::min<std::size_t>(threads, 50));
  }
}

TEST(Pipeline, AnExceptionReachesTheCallerAfterTheThreadsHaveEnded) {
  std::atomic<int> running = 0;
  const auto work = [&](std::size_t i, int) {
    ++running;
    if (i == 3) {
      --running;
      throw std::runtime_error("damaged");
    }
    std::this_thread::yield();
    --running;
    return 0;
  };
  std::size_t consumed = 0;
  const auto run = [&](std::size_t threads) {
    pipeline(20, threads, [](std::size_t) { return 0; }, work, [&](std::size_t, int) { ++consumed; });
  };
  for (const std::size_t threads : {1, 4}) {
    consumed = 0;
    EXPECT_THROW(run(threads), std::runtime_error);
    EXPECT_EQ(consumed, 3u);
    EXPECT_EQ(running, 0);
  }
}

TEST(Pipeline, ItsThreadsTakeNoSignals) {
  const auto blocks_interrupts = [](std::size_t, int) {
    sigset_t blocked;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    return ::sigismember(&blocked, SIGINT) == 1;
  };
  pipeline(4, 2, [](std::size_t) { return 0; }, blocks_interrupts, [](std::size_t, bool blocks) { EXPECT_TRUE(blocks); });
  EXPECT_FALSE(blocks_interrupts(0, 0)) << "the caller takes them again";
}

#ifndef DDBENCH_SANITIZED  // sanitizers end the process where no thread can be made
TEST(Pipeline, WorksOnTheCallingThreadWhereTheSystemMakesNoOther) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // In the child alone, no thread's stack fits into the memory that is allowed.
    constexpr rlim_t kMemory = rlim_t{4} << 30;
    const rlimit limit{kMemory, kMemory};
    pthread_attr_t stacks;
    if (::setrlimit(RLIMIT_AS, &limit) != 0 || ::pthread_attr_init(&stacks) != 0 ||
        ::pthread_attr_setstacksize(&stacks, 4 * kMemory) != 0 || ::pthread_setattr_default_np(&stacks) != 0)
      ::_exit(2);
    std::size_t sum = 0, elsewhere = 0;
    const std::thread::id caller = std::this_thread::get_id();
    const auto work = [&](std::size_t, std::size_t input) {
      elsewhere += std::this_thread::get_id() != caller;
      return input;
    };
    pipeline(10, 4, [](std::size_t i) { return i; }, work, [&](std::size_t, std::size_t i) { sum += i; });
    ::_exit(sum == 45 && elsewhere == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}
#endif

TEST(Pipeline, OfNothingDoesNothing) {
  const auto fail = [](std::size_t) -> int { throw std::logic_error("called"); };
  pipeline(0, 4, fail, [](std::size_t, int) { return 0; }, [](std::size_t, int) {});
}

}  // namespace
}  // namespace ddbench
