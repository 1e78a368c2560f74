#include "harness/launch/worker/training_state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "expect_error.h"

namespace ddbench::launch {
namespace {

using test::message_of;

TEST(TrainingState, ReportsWhereTheTrainingIs) {
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

TEST(TrainingState, CountsTimeInCollectivesToTheEndOfTheStep) {
  TrainingState state;
  for (const std::uint64_t sequence : {1, 2}) {
    state.on_collective_begin("all_reduce", sequence);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    state.on_collective_end(sequence);
  }
  EXPECT_EQ(state.snapshot().collectives_ns, 0);
  state.on_step(0, 1);
  const std::int64_t recorded_ns = state.snapshot().collectives_ns;
  EXPECT_GE(recorded_ns, 4'000'000);
  state.on_collective_end(2);  // a second end counts nothing
  state.on_step(1, 1);
  EXPECT_EQ(state.snapshot().collectives_ns, recorded_ns);
}

TEST(TrainingState, CountsPiecesOfLongWork) {
  TrainingState state;
  EXPECT_EQ(state.snapshot().long_work, ddp::LongWork::kNone);
  {
    ddp::ReportedWork work(state, ddp::LongWork::kWriteCheckpoint);
    const Heartbeat begun = state.snapshot();
    EXPECT_EQ(begun.long_work, ddp::LongWork::kWriteCheckpoint);
    work.piece_done();
    EXPECT_GT(state.snapshot().pieces, begun.pieces);
  }
  EXPECT_EQ(state.snapshot().long_work, ddp::LongWork::kNone);
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
  EXPECT_FALSE(behind.end_after(4).is_last);
  EXPECT_FALSE(ahead.end_after(4).is_last);
  EXPECT_FALSE(ahead.end_after(5).is_last);
  EXPECT_EQ(behind.hold(0), 5u);
  EXPECT_EQ(ahead.hold(0), 6u);
  std::thread training([&] {
    EXPECT_FALSE(behind.end_after(5).is_last);
    EXPECT_TRUE(behind.end_after(6).is_last);
  });
  behind.set_last_step(6, true);
  ahead.set_last_step(6, true);
  training.join();
  EXPECT_TRUE(ahead.end_after(6).is_last);
}

TEST(TrainingState, ARankThatIsHeldWaitsAndCanBeStopped) {
  TrainingState state;
  state.hold(0);
  std::atomic<bool> waited{false};
  std::thread training([&] {
    message_of(ErrorCode::kInterrupted, [&] { state.end_after(3); });
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
  EXPECT_EQ(resumed.hold(0), 0u);
  resumed.set_last_step(0, true);
  EXPECT_TRUE(resumed.end_after(100).is_last);
}

TEST(TrainingState, AHorizonIsAsFarAheadAsTheLeadAtTheRanksOwnPace) {
  TrainingState state;
  state.on_begin(10);
  EXPECT_EQ(state.hold(1'000'000'000), 10u);  // it has no pace yet
  state.set_last_step(1'000'000, false);
  for (std::uint32_t step = 10; step < 110; ++step) EXPECT_FALSE(state.end_after(step).is_last);
  // A hundred steps that took next to nothing: a second holds many of them, however slow this machine is.
  const std::uint32_t horizon = state.hold(60'000'000'000);
  EXPECT_GT(horizon, 110u);
  EXPECT_EQ(state.hold(0), 110u);  // an earlier answer is void
  state.set_last_step(110, true);
  const ddp::TrainingEnd end = state.end_after(110);
  EXPECT_TRUE(end.is_last);
  EXPECT_TRUE(end.writes_checkpoint);
  EXPECT_EQ(state.waits().count, 0u);
}

TEST(TrainingState, AWaitAtTheHorizonIsCounted) {
  TrainingState state;
  state.on_begin(0);
  EXPECT_EQ(state.hold(0), 0u);
  std::thread training([&] { EXPECT_TRUE(state.end_after(0).is_last); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  state.set_last_step(0, false);
  training.join();
  EXPECT_LE(state.waits().count, 1u);  // it may have come late
  EXPECT_GE(state.waits().total_ns, 0);
}

TEST(TrainingState, StepTimesAreThoseOfMeasuredSteps) {
  TrainingState state;
  EXPECT_FALSE(state.step_times());
  state.gather_step_times(2);
  state.on_begin(0);
  EXPECT_EQ(state.step_times()->measured_ns, 0);
  for (std::uint32_t step = 0; step < 4; ++step) {
    state.end_after(step);
    state.on_step_time(step, 20'000'000);
  }
  const StepTimes times = *state.step_times();
  EXPECT_GT(times.measured_ns, 0);
  ASSERT_EQ(times.windows.size(), 2u);
  EXPECT_EQ(times.windows[0].steps, 1u);
  EXPECT_TRUE(state.step_times()->windows.empty());
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
