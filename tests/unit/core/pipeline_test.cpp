#include "core/pipeline.h"

#include <gtest/gtest.h>

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

TEST(Pipeline, OfNothingDoesNothing) {
  const auto fail = [](std::size_t) -> int { throw std::logic_error("called"); };
  pipeline(0, 4, fail, [](std::size_t, int) { return 0; }, [](std::size_t, int) {});
}

}  // namespace
}  // namespace ddbench
