#include "harness/launch/local/local_launch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "expect_error.h"
#include "launch_fixture.h"

namespace ddbench::launch {
namespace {

using test::contains;

using test::message_of;

using namespace std::chrono_literals;
using store::RunState;

/// How long a test waits for a rank that does nothing. By then all others have come as far as they can, on a busy machine
/// and under ASan, too.
constexpr auto kPatience = 15s;

std::string who(const LaunchOutcome& outcome, int rank) {
  const store::RankRecord& record = outcome.ranks[static_cast<std::size_t>(rank)];
  return fmt::format("rank {} (node {}, pid {})", rank, record.node, record.pid);
}

TEST_F(LaunchTest, RanksThatTrainToTheEnd) {
  const LaunchOutcome outcome = launch("train", -1, 2, 2);
  EXPECT_EQ(outcome.state, RunState::kDone) << outcome.reason;
  EXPECT_EQ(outcome.reason, "");
  EXPECT_EQ(observer_.furthest(), 25u);
  EXPECT_EQ(outcome.network, observer_.network_);
  EXPECT_TRUE(outcome.transport.starts_with("test transport ")) << outcome.transport;
  for (int i = 0; i < 4; ++i) {
    const store::RankRecord& rank = outcome.ranks[static_cast<std::size_t>(i)];
    EXPECT_EQ(rank.rank, i);
    EXPECT_EQ(rank.node, i / 2);
    EXPECT_EQ(rank.local_rank, i % 2);
    EXPECT_EQ(rank.outcome, "ok");
    EXPECT_EQ(rank.parameter_hash, "hash");
    EXPECT_EQ(rank.dropped_spans, 3u);
    EXPECT_GT(rank.peak_memory_bytes, 0);
    EXPECT_FALSE(rank.cores.empty());
    EXPECT_TRUE(rank.clock.shared_clock);
    EXPECT_LE(std::abs(rank.clock.start.offset_ns), rank.clock.start.uncertainty_ns);
    EXPECT_LE(std::abs(rank.clock.end.offset_ns), rank.clock.end.uncertainty_ns);
    EXPECT_GT(rank.clock.end.at_ns, rank.clock.start.at_ns);

    const RankTrace trace = read_trace(directory_.path(), i);
    EXPECT_EQ(trace.world_size, "4");
    EXPECT_EQ(trace.local_rank, std::to_string(i % 2));
    EXPECT_EQ(trace.local_world_size, "2");
    EXPECT_EQ(trace.node_rank, std::to_string(i / 2));
    EXPECT_EQ(trace.master_address, read_trace(directory_.path(), 0).address);
  }
  const auto node_of = [&](int rank) { return read_trace(directory_.path(), rank).network_namespace; };
  EXPECT_EQ(node_of(0), node_of(1));
  if (outcome.network == "veth") {
    EXPECT_NE(node_of(0), node_of(2));
    EXPECT_TRUE(outcome.facts.contains("network.sent_bytes"));
    EXPECT_FALSE(anybody_in(node_of(0)) || anybody_in(node_of(2)));
  }
}

TEST_F(LaunchTest, NcclOfAProgramTakesNodesAndRanksThatShareAGpuForHosts) {
  const auto host_of = [&](int rank) { return read_trace(directory_.path(), rank).nccl_host; };
  options_.shares_gpus = true;
  launch("train", -1, 1, 2);
  EXPECT_EQ(host_of(1), "") << "the engine's own backend finds out";
  options_.shares_gpus = false;
  runs_program_ = true;
  const bool links = launch("train", -1, 2, 2).network == "veth";
  EXPECT_EQ(host_of(3), links ? "ddbench-node-1" : "");
  launch("train", -1, 1, 2);
  EXPECT_EQ(host_of(1), "") << "what NCCL finds by itself";
  options_.shares_gpus = true;
  launch("train", -1, 1, 2);
  EXPECT_EQ(host_of(0), "ddbench-rank-0");
  EXPECT_EQ(host_of(1), "ddbench-rank-1");
  ::setenv("NCCL_HOSTID", "the-users", 1);
  launch("train", -1, 1, 2);
  ::unsetenv("NCCL_HOSTID");
  EXPECT_EQ(host_of(1), "the-users");
}

TEST_F(LaunchTest, AProgramOnOneNodeHasTheMachinesNetworkAndOnSeveralANoteSaysThatItHasNot) {
  runs_program_ = true;
  struct stat own {};
  ASSERT_EQ(::stat("/proc/self/ns/net", &own), 0);
  launch("train", -1, 1, 2);
  EXPECT_EQ(read_trace(directory_.path(), 1).network_namespace, own.st_ino);
  EXPECT_EQ(observer_.note_, "");
  const LaunchOutcome outcome = launch("train", -1, 2, 1);
  if (read_trace(directory_.path(), 1).network_namespace == own.st_ino) GTEST_SKIP() << observer_.note_;
  EXPECT_TRUE(contains(observer_.note_, "no other network than that between its nodes")) << observer_.note_;
  EXPECT_NE(std::find(outcome.notes.begin(), outcome.notes.end(), observer_.note_), outcome.notes.end());
}

TEST_F(LaunchTest, ARankThatIsKilledIsNamedAndTheOthersStop) {
  const LaunchOutcome outcome = launch("kill", 2);
  EXPECT_EQ(outcome.state, RunState::kFailed);
  EXPECT_EQ(outcome.reason, who(outcome, 2) + " was killed by signal 9 (SIGKILL) after step 7");
  EXPECT_EQ(outcome.ranks[2].outcome, "killed by signal 9 (SIGKILL)");
  EXPECT_EQ(outcome.ranks[0].outcome, "stopped by the launcher");
  EXPECT_EQ(outcome.ranks[0].dropped_spans, 5u);
}

TEST_F(LaunchTest, TheDeathThatBrokeTheConnectionsIsTheCause) {
  const LaunchOutcome outcome = launch("secondary", 1);
  EXPECT_EQ(outcome.state, RunState::kFailed);
  EXPECT_EQ(outcome.reason, who(outcome, 1) + " was killed by signal 9 (SIGKILL) after step 7");
  EXPECT_TRUE(contains(outcome.ranks[0].outcome, "8/1")) << outcome.ranks[0].outcome;  // what it waited for
}

TEST_F(LaunchTest, ARankThatExitsIsQuoted) {
  const LaunchOutcome outcome = launch("exit", 0);
  EXPECT_EQ(outcome.state, RunState::kFailed);
  EXPECT_EQ(
      outcome.reason,
      who(outcome, 0) + " exited with code 3 after step 7; its last output: first line|no more electricity");
  EXPECT_EQ(outcome.ranks[0].outcome, "exited with code 3");
}

TEST_F(LaunchTest, ARankThatQuitsSilentlyHasFailed) {
  const LaunchOutcome outcome = launch("quit", 1);
  EXPECT_EQ(outcome.state, RunState::kFailed);
  EXPECT_EQ(outcome.reason, who(outcome, 1) + " ended without a result after step 7");
}

TEST_F(LaunchTest, ARanksOwnErrorIsTheReason) {
  const LaunchOutcome outcome = launch("error", 1);
  EXPECT_EQ(outcome.state, RunState::kFailed);
  EXPECT_EQ(outcome.reason, who(outcome, 1) + ": cannot write the spool /x: no space left (after step 7)");
  EXPECT_TRUE(contains(outcome.ranks[1].outcome, "no space left")) << outcome.ranks[1].outcome;
}

TEST_F(LaunchTest, ARankThatSpeaksGarbageFails) {
  options_.grace = 300ms;
  const LaunchOutcome outcome = launch("garbage", 1);
  EXPECT_EQ(outcome.state, RunState::kFailed);
  EXPECT_TRUE(outcome.reason.starts_with(who(outcome, 1) + ": a control message")) << outcome.reason;
}

TEST_F(LaunchTest, AStoppedRankAndItsCollectiveAreNamed) {
  options_.watchdog = kPatience;
  const LaunchOutcome outcome = launch("stop", 1);
  EXPECT_EQ(outcome.state, RunState::kFailed);
  EXPECT_TRUE(outcome.reason.starts_with(who(outcome, 1) + " has not answered for ")) << outcome.reason;
  EXPECT_TRUE(outcome.reason.ends_with("; the others wait for it in all_reduce #9 of group 0 (all ranks) in step 8"))
      << outcome.reason;
  EXPECT_EQ(outcome.ranks[1].outcome, "killed by the launcher after step 7");
  EXPECT_EQ(outcome.ranks[0].outcome, "stopped by the launcher");
}

TEST_F(LaunchTest, ARankThatIsLateForTheCollectiveIsNamed) {
  options_.watchdog = kPatience;
  options_.grace = 300ms;
  const LaunchOutcome outcome = launch("late", 2);
  EXPECT_EQ(outcome.state, RunState::kFailed);
  EXPECT_TRUE(outcome.reason.starts_with(
      who(outcome, 2) + " has not entered all_reduce #9 of group 0 (all ranks) in step 8, in which the others wait"))
      << outcome.reason;
}

TEST_F(LaunchTest, ARankThatIgnoresTheStopIsKilled) {
  options_.grace = kPatience;  // in which the third rank ends
  const LaunchOutcome outcome = launch("deaf", 1);
  EXPECT_EQ(outcome.state, RunState::kFailed);
  EXPECT_TRUE(outcome.reason.starts_with(who(outcome, 0) + " was killed by signal 9 (SIGKILL)"))
      << outcome.reason;
  EXPECT_TRUE(outcome.ranks[1].outcome.starts_with("killed by the launcher")) << outcome.ranks[1].outcome;
  ASSERT_EQ(outcome.notes.size(), 1u);
  EXPECT_TRUE(contains(outcome.notes[0], "did not exit within 15.0 s")) << outcome.notes[0];
}

TEST_F(LaunchTest, ARankThatNeverReportsIsNamed) {
  options_.start_deadline = kPatience;
  const LaunchOutcome outcome = launch("mute", 1);
  EXPECT_EQ(outcome.state, RunState::kFailed);
  EXPECT_EQ(outcome.reason, who(outcome, 1) + " did not report within 15.0 s of its start");
}

TEST_F(LaunchTest, AnInterruptStopsEveryRank) {
  observer_.interrupt_after_steps_ = 30;
  const LaunchOutcome outcome = launch("forever", -1, 2, 2);
  EXPECT_EQ(outcome.state, RunState::kInterrupted);
  EXPECT_TRUE(outcome.reason.starts_with("interrupted after step ")) << outcome.reason;
  for (const store::RankRecord& rank : outcome.ranks) EXPECT_EQ(rank.outcome, "stopped by the launcher");
}

TEST_F(LaunchTest, MoreRanksThanCores) {
  const LaunchOutcome outcome = launch("train", -1, 4, 4);
  EXPECT_EQ(outcome.state, RunState::kDone) << outcome.reason;
}

TEST_F(LaunchTest, AnObserverThatThrowsLeavesNothing) {
  class FullDisk final : public LaunchObserver {
    void on_network(const std::string&, const std::string&) override {}
    void on_progress(const RankProgress& progress) override {
      if (progress.step > 30) throw Error(ErrorCode::kEnvironment, "the store's disk is full");
    }
    void on_tick() override {}
    bool interrupted() override { return false; }
  };
  ::setenv("LAUNCH_TEST_SCENARIO", "forever", 1);
  RunCase run_case;
  run_case.nodes = 2;
  const std::size_t files = open_files();
  FullDisk observer;
  message_of(ErrorCode::kEnvironment, [&] { launch_local(run_case, options_, observer); });
  EXPECT_TRUE(children().empty());
  EXPECT_EQ(open_files(), files);
  for (int rank = 0; rank < 2; ++rank) EXPECT_FALSE(lives(read_trace(directory_.path(), rank).pid));
}

TEST_F(LaunchTest, AnExecutableThatIsNotThereIsNamed) {
  options_.executable = "/nonexistent/ddbench";
  const std::string message =
      message_of(ErrorCode::kEnvironment, [&] { launch_local(RunCase(), options_, observer_); });
  EXPECT_TRUE(contains(message, "/nonexistent/ddbench cannot be executed: No such file")) << message;
}

TEST_F(LaunchTest, AnExecutableThatIsNoProgramIsNamed) {
  options_.executable = directory_.path() / "broken";
  std::ofstream(options_.executable) << "\x7f"
                                        "ELF nonsense";
  std::filesystem::permissions(options_.executable, std::filesystem::perms::owner_all);
  const LaunchOutcome outcome = launch("train", -1);
  EXPECT_EQ(outcome.state, RunState::kFailed);
  EXPECT_TRUE(contains(outcome.reason, "broken cannot be executed: Exec format error")) << outcome.reason;
}

}  // namespace
}  // namespace ddbench::launch
