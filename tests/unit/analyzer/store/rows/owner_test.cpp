#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/store/rows/run_store.h"
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
  EXPECT_EQ(run.owner_boot_id.size(), 36u);
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

TEST(Owner, EarlierBootOfThisHostIsGone) {
  RunRecord run = owned_run("a");
  run.owner_boot_id[0] = run.owner_boot_id[0] == '0' ? '1' : '0';
  EXPECT_TRUE(is_abandoned(run));
  run.owner_host += "-other";
  EXPECT_FALSE(is_abandoned(run));
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
