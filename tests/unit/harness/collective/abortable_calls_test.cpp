#include "harness/collective/mpi/abortable_calls.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

namespace ddbench::collective::mpi_backend {
namespace {

TEST(AbortableCalls, AnAbortBetweenCallsLetsNoneBegin) {
  AbortableCalls calls;
  int runs = 0;
  calls.run([&] { ++runs; });
  EXPECT_EQ(calls.abort(), nullptr);
  EXPECT_TRUE(calls.aborted());
  calls.run([&] { ++runs; });
  EXPECT_EQ(runs, 1);
}

TEST(AbortableCalls, AnAbortInACallSeesItUntilItsEnd) {
  AbortableCalls calls;
  std::shared_ptr<const std::atomic<bool>> under_way;
  calls.run([&] {
    under_way = calls.abort();
    ASSERT_NE(under_way, nullptr);
    EXPECT_TRUE(*under_way);
    EXPECT_EQ(calls.abort(), nullptr) << "once";
  });
  ASSERT_NE(under_way, nullptr);
  EXPECT_FALSE(*under_way);
}

TEST(AbortableCalls, ACallThatThrowsIsOver) {
  AbortableCalls calls;
  EXPECT_THROW(calls.run([] { throw std::runtime_error("more elements than MPI counts"); }), std::runtime_error);
  EXPECT_EQ(calls.abort(), nullptr) << "or the process would be ended";
}

/// Whatever the two threads do at the same time, no call goes on for ever without somebody who ends it.
TEST(AbortableCalls, ACallIsSeenOrNotBegun) {
  for (int round = 0; round < 2000; ++round) {
    AbortableCalls calls;
    std::atomic<int> at_start{2};
    const auto meet = [&] {
      for (--at_start; at_start > 0;) std::this_thread::yield();
    };
    std::atomic<bool> looked{false};
    bool began = false;
    std::thread caller([&] {
      meet();
      calls.run([&] {
        began = true;
        while (!looked) std::this_thread::yield();
      });
    });
    meet();
    const bool seen = calls.abort() != nullptr;
    looked = true;
    caller.join();
    ASSERT_TRUE(seen || !began) << "in round " << round;
  }
}

}  // namespace
}  // namespace ddbench::collective::mpi_backend
