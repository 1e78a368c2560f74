// The launcher of one rank elsewhere, which this test is.
#include "harness/launch/supervisor/supervisor.h"

#include <gtest/gtest.h>

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

  void launch() override {}
  void kill(int) override {
    received = rank_->read_available();
    rank_.reset();
  }
  std::vector<FabricEvent> read_events() override { return {}; }
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
  void on_progress(const RankProgress&) override {}
  void on_tick() override {}
  bool interrupted() override { return false; }
  bool preempted() override { return is_preempted; }

  bool is_preempted = false;
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

TEST_F(SupervisorTest, AndThatOfAFailedOne) {
  ranks_.rank().send(FileChunk{"results.db", {'x'}});
  run();
  EXPECT_EQ(told_exit_code(), 1);
}

}  // namespace
}  // namespace ddbench::launch
