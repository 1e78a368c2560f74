// The launcher of one rank elsewhere, which this test is.
#include "harness/launch/supervisor/supervisor.h"

#include <gtest/gtest.h>

#include <functional>

#include "core/run_case/program_case.h"
#include "expect_error.h"
#include "harness/launch/worker/worker_session.h"
#include "hang_limit.h"
#include "socket_pair.h"
#include "temporary_directory.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;
using store::RunState;
using test::contains;

/// It has connected, and does not end before it is killed.
class OneRank final : public RankProcesses {
 public:
  OneRank() : rank_(std::in_place, std::move(pair_.right)) {}

  ControlChannel& rank() { return *rank_; }
  /// What it was sent.
  std::vector<Message> received;
  /// How it answers what it is sent; where this is set, it ends with Finish.
  std::function<void(const Message& message, ControlChannel& rank)> answer;

  void launch() override {}
  void kill(int) override {
    received = rank_->read_available();
    rank_.reset();
  }
  std::vector<FabricEvent> read_events() override {
    if (!answer || !rank_) return {};
    bool ends = false;
    for (const Message& message : rank_->read_available()) {
      received.push_back(message);
      answer(message, *rank_);
      ends = ends || std::holds_alternative<Finish>(message);
    }
    rank_->flush();
    if (ends) rank_.reset();
    return {};
  }
  std::vector<int> watched() const override { return {}; }
  bool gone() const noexcept override { return false; }
  const std::map<std::string, std::string>& facts() const noexcept override { return facts_; }
  void finish(std::chrono::milliseconds) override {}
  bool remote() const noexcept override { return true; }
  std::string address_of(const Hello& hello, int) const override { return hello.address; }
  std::vector<Arrival> take_arrivals() override {
    std::vector<Arrival> arrivals;
    if (!pair_.left) return arrivals;
    Hello hello = introduce(0);
    hello.local_rank = 0;
    hello.world_size = 1;
    hello.address = "127.0.0.1";
    arrivals.push_back({std::make_unique<ControlChannel>(std::move(pair_.left)), hello});
    return arrivals;
  }

 private:
  SocketPair pair_;
  std::optional<ControlChannel> rank_;
  std::map<std::string, std::string> facts_;
};

class Observer final : public LaunchObserver {
 public:
  void on_network(const std::string&, const std::string&) override {}
  void on_progress(const RankProgress& progress) override {
    steps = progress.step;
    is_preempted = is_preempted || preempts_once_it_trains;
  }
  void on_tick() override {}
  bool interrupted() override { return false; }
  bool preempted() override { return is_preempted; }

  bool is_preempted = false;
  bool preempts_once_it_trains = false;
  std::uint32_t steps = 0;  ///< done, as reported last
};

class SupervisorTest : public ::testing::Test {
 protected:
  SupervisorTest() {
    set_program(run_case_, {"a program"});
    options_.run_id = "test";
    options_.run_directory = directory_.path();
    options_.start_deadline = options_.watchdog = test::kHangs;
    options_.grace = options_.preemption_grace = 50ms;
  }

  LaunchOutcome run() { return Supervisor(run_case_, options_, observer_, ranks_, {}).run(); }
  /// Of the Stop that the rank was sent.
  int told_exit_code() const {
    for (const Message& message : ranks_.received) {
      if (const Stop* const stop = std::get_if<Stop>(&message)) return stop->exit_code;
    }
    return -1;
  }

  test::TemporaryDirectory directory_;
  RunCase run_case_;
  LaunchOptions options_;
  Observer observer_;
  OneRank ranks_;
};

TEST_F(SupervisorTest, NoRankIsBlamedForTheLaunchersDisk) {
  options_.run_directory = directory_.path() / "was removed";
  ranks_.rank().send(FileChunk{"rank0.spool", {'x'}});
  const LaunchOutcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::kFailed);
  EXPECT_TRUE(contains(outcome.reason, "on the launcher's machine, ")) << outcome.reason;
  EXPECT_TRUE(contains(outcome.reason, "rank0.spool: No such file")) << outcome.reason;
  EXPECT_FALSE(contains(outcome.reason, "rank 0 (")) << outcome.reason;
}

TEST_F(SupervisorTest, AFileThatIsNoneOfItsOwnIsTheRanksFault) {
  ranks_.rank().send(FileChunk{"results.db", {'x'}});
  const LaunchOutcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::kFailed);
  EXPECT_TRUE(outcome.reason.starts_with("rank 0 (")) << outcome.reason;
}

TEST_F(SupervisorTest, ANoteHasTheTimeThatARankWasGiven) {
  observer_.is_preempted = true;
  options_.grace = test::kHangs;
  options_.preemption_grace = 200ms;
  const LaunchOutcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::kPreempted);
  ASSERT_FALSE(outcome.notes.empty());
  EXPECT_TRUE(contains(outcome.notes.front(), "did not exit within 0.2 s of the stop request")) << outcome.notes.front();
}

TEST_F(SupervisorTest, ARankElsewhereIsToldTheExitCodeOfAPreemptedRun) {
  observer_.is_preempted = true;
  run();
  EXPECT_EQ(told_exit_code(), 130);
}

/// Trains until its run is preempted, and ends in order.
class OneTrainingRank : public SupervisorTest {
 protected:
  OneTrainingRank() {
    run_case_ = RunCase();
    run_case_.checkpoint_every = 5;
    run_case_.target_loss = 0.5;
    observer_.preempts_once_it_trains = true;
    options_.grace = options_.preemption_grace = test::kHangs;
    ranks_.rank().send(Ready{"test", "", {}});
    Heartbeat beat;
    beat.steps_completed = 3;
    ranks_.rank().send(beat);
  }
  /// It ends with step 7, which is agreed on while it is in it.
  void answer_with(bool reached_target) {
    ranks_.answer = [reached_target](const Message& message, ControlChannel& rank) {
      if (const Hold* const hold = std::get_if<Hold>(&message)) rank.post(Holding{hold->round, 7});
      if (!std::holds_alternative<LastStep>(message)) return;
      Result result;
      result.steps_done = 8;
      result.reached_target = reached_target;
      rank.post(result);
    };
  }
  int finish_code() const {
    for (const Message& message : ranks_.received) {
      if (const Finish* const finish = std::get_if<Finish>(&message)) return finish->exit_code;
    }
    return -1;
  }
};

TEST_F(OneTrainingRank, ThatReachesItsTargetWhenItIsPreemptedIsDone) {
  answer_with(true);
  const LaunchOutcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::kDone) << outcome.reason;
  EXPECT_EQ(finish_code(), 0);
  EXPECT_EQ(observer_.steps, 8U) << "not all that it might have done";
}

TEST_F(OneTrainingRank, ThatIsPreemptedBeforeIsNot) {
  answer_with(false);
  const LaunchOutcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::kPreempted);
  EXPECT_EQ(outcome.reason, "preempted after step 7, with a checkpoint of it");
  EXPECT_EQ(finish_code(), 130);
}

TEST_F(SupervisorTest, AndThatOfAFailedOne) {
  ranks_.rank().send(FileChunk{"results.db", {'x'}});
  run();
  EXPECT_EQ(told_exit_code(), 1);
}

}  // namespace
}  // namespace ddbench::launch
