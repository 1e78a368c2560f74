#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/store/rows/run_store.h"
#include "core/clock.h"
#include "core/facts/facts.h"
#include "sample_records.h"
#include "temporary_directory.h"

namespace ddbench::store {
namespace {

RunRecord owned_run(const std::string& id) {
  RunRecord run = test::plain_run(id);
  set_owner_to_this_process(run);
  return run;
}

// What a child process says of itself, after it has gone. Reaped only when `reap`.
RunRecord run_of_dead_child(bool reap) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    RunRecord run;
    set_owner_to_this_process(run);
    const bool written = write(ends[1], &run.owner_start_ticks, sizeof run.owner_start_ticks) > 0;
    _exit(written ? 0 : 1);
  }
  RunRecord run = owned_run("child");
  run.owner_pid = child;
  EXPECT_EQ(read(ends[0], &run.owner_start_ticks, sizeof run.owner_start_ticks),
            static_cast<ssize_t>(sizeof run.owner_start_ticks));
  siginfo_t info;
  EXPECT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  if (reap) waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
  return run;
}

TEST(Owner, LivingProcessHasAbandonedNothing) {
  const RunRecord run = owned_run("a");
  EXPECT_EQ(run.owner_pid, getpid());
  EXPECT_GT(run.owner_start_ticks, 0);
  EXPECT_EQ(run.owner_boot_id.find(' '), run.owner_boot_id.size() > 36u ? 36u : std::string::npos) << "in a container also its namespace";
  EXPECT_FALSE(run.owner_host.empty());
  EXPECT_FALSE(is_abandoned(run));
}

TEST(Owner, EndedProcessHasAbandonedItsRun) {
  const RunRecord run = run_of_dead_child(true);
  EXPECT_TRUE(is_abandoned(run));
  RunRecord done = run;
  done.state = RunState::kDone;
  EXPECT_FALSE(is_abandoned(done));
  RunRecord elsewhere = run;
  elsewhere.owner_host += "-other";
  EXPECT_FALSE(is_abandoned(elsewhere));
}

TEST(Owner, ZombieHasAbandonedItsRun) {
  const RunRecord run = run_of_dead_child(false);
  EXPECT_TRUE(is_abandoned(run));
  waitpid(static_cast<pid_t>(run.owner_pid), nullptr, 0);
}

TEST(Owner, PidInOtherHandsIsNotTheOwner) {
  RunRecord run = owned_run("a");
  ++run.owner_start_ticks;
  EXPECT_TRUE(is_abandoned(run));
  run.owner_start_ticks = 0;
  EXPECT_FALSE(is_abandoned(run)) << "without a start only the pid counts";
}

RunRecord run_of_another_boot() {
  RunRecord run = owned_run("a");
  run.owner_boot_id[0] = run.owner_boot_id[0] == '0' ? '1' : '0';
  return run;
}

TEST(Owner, EarlierBootOfThisHostIsGone) {
  RunRecord run = run_of_another_boot();
  set_fact(run.environment.facts, fact_key<"owner.heartbeat_wall_ns">, std::int64_t{1});
  EXPECT_TRUE(is_abandoned(run));
  run.owner_host += "-other";
  EXPECT_FALSE(is_abandoned(run));
}

TEST(Owner, AnotherMachineOfTheSameNameIsKnownByItsSigns) {
  RunRecord run = run_of_another_boot();
  set_fact(run.environment.facts, fact_key<"owner.heartbeat_wall_ns">, wall_ns());
  EXPECT_FALSE(is_abandoned(run)) << "it gave a sign since this machine was started";
  EXPECT_FALSE(is_of_this_host(run));
  EXPECT_EQ(why_gone(run, wall_ns()), "");
  EXPECT_NE(why_gone(run, wall_ns() + 2 * kStaleAfter_ns), "") << "its process is known by its signs alone";
}

TEST(Owner, AnotherContainerOfTheSameNameIsKnownByItsSigns) {
  RunRecord run = run_of_dead_child(true);
  run.owner_boot_id = run.owner_boot_id.substr(0, 36) + " pid:1";
  EXPECT_FALSE(is_abandoned(run)) << "the number is of another pid namespace";
  EXPECT_FALSE(is_of_this_host(run));
  run.started_wall_ns = 1;
  EXPECT_FALSE(is_abandoned(run)) << "the kernel is the same";
}

/// In a process of its own, as it enters a namespace. 0: as expected.
int status_after_renaming_the_host(const std::filesystem::path& file) {
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWUTS) != 0) _exit(2);
    RunStore store = RunStore::open(file, OpenMode::kReadWrite);
    RunRecord run = owned_run("a");
    run.state = RunState::kRunning;
    store.create_run(run);
    store.drive("a");
    const std::string name = "renamed-" + std::to_string(getpid());
    if (sethostname(name.data(), name.size()) != 0) _exit(2);
    _exit(store.beat("a") && is_of_this_host(*store.run("a")) ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST(Owner, AHostThatGetsAnotherNameKeepsItsRun) {
  const test::TemporaryDirectory directory;
  const int status = status_after_renaming_the_host(directory / "results.db");
  if (status == 2) GTEST_SKIP() << "skipped: this user cannot rename a host in a namespace";
  EXPECT_EQ(status, 0);
}

TEST(Owner, StoreListsAbandonedRunsOnly) {
  const test::TemporaryDirectory directory;
  RunStore store = RunStore::open(directory / "results.db", OpenMode::kReadWrite);
  store.create_run(owned_run("alive"));
  store.create_run(test::plain_run("without-an-owner"));
  store.create_run(run_of_dead_child(true));
  const std::vector<RunRecord> abandoned = store.abandoned_runs();
  ASSERT_EQ(abandoned.size(), 1u);
  EXPECT_EQ(abandoned[0].id, "child");
}

}  // namespace
}  // namespace ddbench::store
