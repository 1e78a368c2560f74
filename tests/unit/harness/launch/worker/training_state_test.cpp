#include "harness/launch/worker/training_state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "expect_error.h"

namespace ddbench::launch {
namespace {

using test::message_of;

TEST(TrainingState, TellsWhereTheTrainingIs) {
  TrainingState state;
  EXPECT_EQ(state.snapshot().steps_completed, 0u);
  EXPECT_TRUE(std::isnan(state.snapshot().loss));
  EXPECT_EQ(state.snapshot().collective.function, "");
  state.on_step(7, 0.5);
  state.on_collective_begin("all_reduce", 41);
  Heartbeat beat = state.snapshot();
  EXPECT_EQ(beat.steps_completed, 8u);
  EXPECT_EQ(beat.loss, 0.5);
  EXPECT_EQ(beat.collective.function, "all_reduce");
  EXPECT_EQ(beat.collective.sequence, 41u);
  EXPECT_TRUE(beat.collective.inside);
  EXPECT_GE(beat.collective.for_ns, 0);
  state.on_collective_end(41);
  EXPECT_FALSE(state.snapshot().collective.inside);
}

TEST(TrainingState, LongNamesAreCutNotOverrun) {
  TrainingState state;
  state.on_collective_begin(std::string(100, 'x'), 1);
  EXPECT_EQ(state.snapshot().collective.function, std::string(32, 'x'));
}

TEST(TrainingState, AStopEndsTheLoopAtTheNextStep) {
  TrainingState state;
  state.request_stop();
  message_of(ErrorCode::kInterrupted, [&] { state.on_step(3, 1.0); });
  EXPECT_EQ(state.snapshot().steps_completed, 4u);
}

TEST(TrainingState, OfRanksThatAreHeldTheFurthestStepIsTheLastOfAll) {
  TrainingState ahead;
  TrainingState behind;
  EXPECT_FALSE(behind.is_last(4));
  EXPECT_FALSE(ahead.is_last(4));
  EXPECT_FALSE(ahead.is_last(5));
  EXPECT_EQ(behind.hold(), 5u);
  EXPECT_EQ(ahead.hold(), 6u);
  std::thread training([&] {
    EXPECT_FALSE(behind.is_last(5));
    EXPECT_TRUE(behind.is_last(6));
  });
  behind.set_last_step(6);
  ahead.set_last_step(6);
  training.join();
  EXPECT_TRUE(ahead.is_last(6));
}

TEST(TrainingState, ARankThatIsHeldWaitsAndCanBeStopped) {
  TrainingState state;
  state.hold();
  std::atomic<bool> waited{false};
  std::thread training([&] {
    message_of(ErrorCode::kInterrupted, [&] { state.is_last(3); });
    waited = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(waited);
  state.request_stop();
  training.join();
  EXPECT_TRUE(waited);
}

TEST(TrainingState, ARankThatBeganNothingEndsWithItsFirstStep) {
  TrainingState resumed;
  EXPECT_EQ(resumed.hold(), 0u);
  resumed.set_last_step(0);
  EXPECT_TRUE(resumed.is_last(100));
}

TEST(TrainingState, IsReadWhileItIsWritten) {
  TrainingState state;
  std::thread trainer([&] {
    for (std::uint32_t step = 0; step < 20'000; ++step) {
      state.on_collective_begin("all_reduce", step + 1);
      state.on_collective_end(step + 1);
      state.on_step(step, 1.0);
    }
  });
  std::uint32_t last = 0;
  while (last < 20'000) {
    const Heartbeat beat = state.snapshot();
    EXPECT_GE(beat.steps_completed, last);
    last = beat.steps_completed;
  }
  trainer.join();
}

}  // namespace
}  // namespace ddbench::launch
