#include "harness/launch/worker/worker_session.h"

#include <gtest/gtest.h>

#include <deque>
#include <future>

#include "core/clock.h"
#include "expect_error.h"
#include "hang_limit.h"
#include "socket_pair.h"

namespace ddbench::launch {
namespace {

using test::message_of;

using namespace std::chrono_literals;

/// A rank's session whose launcher is this test.
class WorkerSessionTest : public ::testing::Test {
 protected:
  WorkerSessionTest() {
    launcher_.emplace(std::move(pair_.left));
    session_.emplace(std::move(pair_.right), state_, [this] { ++disconnects_; });
  }

  /// The next message of type M; others are passed over.
  template <typename M>
  M expect() {
    for (int round = 0; round < 50; ++round) {
      while (!inbox_.empty()) {
        const Message message = inbox_.front();
        inbox_.pop_front();
        if (const M* wanted = std::get_if<M>(&message)) return *wanted;
      }
      launcher_->wait_readable(200ms);
      for (Message& message : launcher_->read_available()) inbox_.push_back(std::move(message));
    }
    ADD_FAILURE() << "the message did not come";
    return {};
  }

  Assignment join() {
    auto joined = std::async(std::launch::async, [&] { return session_->join(3, test::kHangs); });
    EXPECT_EQ(expect<Hello>().rank, 3);
    Assignment assignment;
    assignment.rank = 3;
    launcher_->send(assignment);
    return joined.get();
  }

  SocketPair pair_;
  std::optional<ControlChannel> launcher_;
  std::deque<Message> inbox_;
  TrainingState state_;
  std::atomic<int> disconnects_{0};
  std::optional<WorkerSession> session_;
};

TEST_F(WorkerSessionTest, FollowsTheLaunchersClockWhereItsAssignmentSaysSo) {
  auto joined = std::async(std::launch::async, [&] { return session_->join(3, test::kHangs); });
  expect<Hello>();
  Assignment assignment;
  assignment.rank = 3;
  assignment.follows_clock = true;
  launcher_->send(assignment);
  joined.get();
  constexpr std::int64_t kAhead_ns = 5'000'000'000;
  for (int i = 0; i < WorkerSession::kPingsWhileRunning; ++i) {
    const Ping ping = expect<Ping>();
    launcher_->send(Pong{ping.id, now_ns() + kAhead_ns});
  }
  const ClockReading reading = expect<ClockRead>().clock;
  EXPECT_NEAR(static_cast<double>(reading.offset_ns), static_cast<double>(kAhead_ns),
              static_cast<double>(reading.uncertainty_ns));
  EXPECT_GT(reading.uncertainty_ns, 0);
}

TEST_F(WorkerSessionTest, JoinsAndSendsHeartbeats) {
  EXPECT_EQ(join().rank, 3);
  state_.on_step(17, 0.25);
  state_.on_collective_begin("all_reduce", 41);
  Heartbeat beat = expect<Heartbeat>();
  for (int i = 0; i < 10 && beat.steps_completed == 0; ++i) beat = expect<Heartbeat>();
  EXPECT_EQ(beat.steps_completed, 18u);
  EXPECT_GT(beat.peak_memory_bytes, 0);
}

TEST_F(WorkerSessionTest, DoesNotWaitForAnAssignmentForever) {
  const std::string message = message_of(ErrorCode::kRunFailed, [&] { session_->join(0, 50ms); });
  EXPECT_NE(message.find("assignment"), std::string::npos) << message;
}

TEST_F(WorkerSessionTest, TheClockReadingHoldsTheTrueOffset) {
  // This launcher's clock is an hour ahead and some.
  constexpr std::int64_t kAhead_ns = 3'600'000'000'007;
  auto reading = std::async(std::launch::async, [&] { return session_->read_clock(test::kHangs); });
  for (int i = 0; i < WorkerSession::kPings; ++i) {
    const Ping ping = expect<Ping>();
    launcher_->send(Pong{ping.id, now_ns() + kAhead_ns});
  }
  const ClockReading clock = reading.get();
  EXPECT_LE(std::abs(clock.offset_ns - kAhead_ns), clock.uncertainty_ns);
  EXPECT_GT(clock.uncertainty_ns, 0);
}

TEST_F(WorkerSessionTest, AClockThatDoesNotAnswerIsAnError) {
  message_of(ErrorCode::kRunFailed, [&] { session_->read_clock(50ms); });
  // A late answer must not disturb the next reading.
  const Ping late = expect<Ping>();
  launcher_->send(Pong{late.id, 1});
  auto reading = std::async(std::launch::async, [&] { return session_->read_clock(test::kHangs); });
  for (int i = 0; i < WorkerSession::kPings; ++i) launcher_->send(Pong{expect<Ping>().id, now_ns()});
  const ClockReading clock = reading.get();
  EXPECT_LE(std::abs(clock.offset_ns), clock.uncertainty_ns);
}

TEST_F(WorkerSessionTest, KeysAreHandedToWhoeverWaits) {
  auto first = std::async(std::launch::async, [&] { return session_->get("a", test::kHangs); });
  const KvGet get_a = expect<KvGet>();
  auto second = std::async(std::launch::async, [&] { return session_->get("b", test::kHangs); });
  const KvGet get_b = expect<KvGet>();
  EXPECT_EQ(get_a.key, "a");
  EXPECT_EQ(get_b.key, "b");
  launcher_->send(KvValue{get_b.id, {'B'}});
  launcher_->send(KvValue{get_a.id, {'A'}});
  EXPECT_EQ(first.get(), collective::Bytes{'A'});
  EXPECT_EQ(second.get(), collective::Bytes{'B'});
  session_->set("mine", {'x', '\0'});
  const KvSet entry = expect<KvSet>();
  EXPECT_EQ(entry.key, "mine");
  EXPECT_EQ(entry.value, (collective::Bytes{'x', '\0'}));
}

TEST_F(WorkerSessionTest, AKeyThatDoesNotComeIsNamed) {
  const std::string message = message_of(ErrorCode::kRunFailed, [&] { session_->get("rank/5", 50ms); });
  EXPECT_NE(message.find("rank/5"), std::string::npos) << message;
}

TEST_F(WorkerSessionTest, AStopEndsEveryWaitAndTheTraining) {
  std::promise<void> aborted;
  session_->on_stop([&] { aborted.set_value(); });
  auto waiting = std::async(std::launch::async, [&] { session_->get("never", test::kHangs); });
  expect<KvGet>();
  EXPECT_FALSE(session_->exit_code_of_launcher());
  launcher_->send(Stop{"preempted", 130});
  EXPECT_EQ(aborted.get_future().wait_for(test::kHangs), std::future_status::ready);
  message_of(ErrorCode::kInterrupted, [&] { waiting.get(); });
  EXPECT_TRUE(session_->stopped());
  EXPECT_TRUE(state_.stop_requested());
  EXPECT_EQ(session_->exit_code_of_launcher(), 130);
  EXPECT_FALSE(session_->trouble());
  message_of(ErrorCode::kInterrupted, [&] { session_->get("later", 60s); });
  session_->wait_for_finish();
  bool at_once = false;
  session_->on_stop([&] { at_once = true; });
  EXPECT_TRUE(at_once);
}

TEST_F(WorkerSessionTest, AnActionIsNotCalledOnceWhatItUsesIsGone) {
  bool called = false;
  const auto fails = [&] {
    const StopAction action(*session_, [&] { called = true; });
    throw Error(ErrorCode::kRunFailed, "the key of a peer did not come");
  };
  message_of(ErrorCode::kRunFailed, fails);
  launcher_->send(Stop{"a peer died"});
  session_->wait_for_finish();
  EXPECT_FALSE(called);
}

TEST_F(WorkerSessionTest, TroubleThatOnlyTheWatchSeesStopsTheRank) {
  join();
  session_->watch([] { return Error(ErrorCode::kEnvironment, "cannot write the spool /x: disk full"); });
  session_->wait_for_finish();
  ASSERT_TRUE(session_->trouble());
  EXPECT_EQ(session_->trouble()->message(), "cannot write the spool /x: disk full");
}

TEST_F(WorkerSessionTest, LeavesWhenTheLauncherSaysSo) {
  launcher_->send(Finish{});
  session_->wait_for_finish();
  EXPECT_FALSE(session_->stopped());
  EXPECT_EQ(session_->exit_code_of_launcher(), 0);
}

TEST_F(WorkerSessionTest, NoticesThatTheLauncherIsGone) {
  auto waiting = std::async(std::launch::async, [&] { session_->get("never", test::kHangs); });
  expect<KvGet>();
  launcher_.reset();
  message_of(ErrorCode::kInterrupted, [&] { waiting.get(); });
  session_.reset();
  EXPECT_EQ(disconnects_, 1);
}

}  // namespace
}  // namespace ddbench::launch
