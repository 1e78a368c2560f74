#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/rows/run_store.h"
#include "core/clock.h"
#include "core/facts/facts.h"
#include "core/run_case/scheduler_job.h"
#include "expect_error.h"
#include "sample_records.h"
#include "temporary_directory.h"

namespace ddbench::store {
namespace {

constexpr std::int64_t kNow_ns = 1'800'000'000'000'000'000;

RunRecord run_elsewhere(std::int64_t sign_ns) {
  RunRecord run = test::plain_run("a");
  set_owner_to_this_process(run);
  run.owner_host += "-other";
  if (sign_ns != 0) set_fact(run.environment.facts, fact_key<"owner.heartbeat_wall_ns">, sign_ns);
  return run;
}

class Heartbeat : public testing::Test {
 protected:
  ~Heartbeat() override {
    for (const char* name : {"SLURM_JOB_ID", "SLURM_RESTART_COUNT", "PBS_JOBID"}) ::unsetenv(name);
  }
};

TEST_F(Heartbeat, IsStoredAsLongAsTheRunIsRunning) {
  const test::TemporaryDirectory directory;
  RunStore store = RunStore::open(directory / "results.db", OpenMode::kReadWrite);
  store.create_run(test::plain_run("a"));
  const std::int64_t before_ns = wall_ns();
  EXPECT_TRUE(store.beat("a"));
  EXPECT_GE(*get_fact(store.run("a")->environment.facts, fact_key<"owner.heartbeat_wall_ns">), before_ns);
  RunRecord closed = *store.run("a");
  closed.state = RunState::kInterrupted;
  store.update_run(closed);
  EXPECT_FALSE(has_fact(store.run("a")->environment.facts, fact_key<"owner.heartbeat_wall_ns">));
  EXPECT_FALSE(store.beat("a"));
  EXPECT_EQ(store.run("a")->state, RunState::kInterrupted);
  EXPECT_FALSE(store.beat("b"));
}

/// All that a ddbench writes to its run.
void expect_refused(RunStore& store, const std::string& why) {
  const std::vector<Span> spans(1);
  const std::vector<std::string> names{"x"};
  const std::vector<std::pair<std::uint32_t, double>> values{{0, 1.0}};
  EXPECT_ERROR(ErrorCode::kRunFailed, why, store.append_spans("a", 0, spans, names));
  EXPECT_ERROR(ErrorCode::kRunFailed, why, store.append_step_values("a", 0, "loss", values));
  EXPECT_ERROR(ErrorCode::kRunFailed, why, store.put_ranks("a", {}));
  EXPECT_ERROR(ErrorCode::kRunFailed, why, store.put_steps("a", {}));
  EXPECT_ERROR(ErrorCode::kRunFailed, why, store.delete_spans("a"));
  EXPECT_ERROR(ErrorCode::kRunFailed, why, store.update_run(test::plain_run("a")));
  EXPECT_FALSE(store.beat("a"));
}

TEST_F(Heartbeat, WhoDrivesARunWritesNothingToOneThatAnotherTook) {
  const test::TemporaryDirectory directory;
  RunStore store = RunStore::open(directory / "results.db", OpenMode::kReadWrite);
  RunRecord run = test::plain_run("a");
  set_owner_to_this_process(run);
  store.create_run(run);
  store.drive("a");
  store.put_ranks("a", {});
  EXPECT_TRUE(store.beat("a"));
  RunStore other = RunStore::open(directory / "results.db", OpenMode::kReadWrite);
  const std::int64_t own_pid = run.owner_pid;
  run.owner_pid = own_pid + 1;
  other.update_run(run);
  expect_refused(store, "run a was closed in the store " + (directory / "results.db").string() + " by another ddbench (pid");
  run.owner_pid = own_pid;
  run.state = RunState::kInterrupted;
  other.update_run(run);
  expect_refused(store, "by another ddbench, which took this one for dead");
  EXPECT_EQ(store.run("a")->state, RunState::kInterrupted);
  prune_store(directory / "results.db", std::vector<RunId>{"a"}, PruneWhat::kRuns);
  expect_refused(store, "run a was deleted from the store");
  store.let_go();
  EXPECT_ERROR(ErrorCode::kBadInput, "there is no run \"a\"", store.put_ranks("a", {}));
}

TEST_F(Heartbeat, WhoHasClosedItsRunMayAddItsRows) {
  const test::TemporaryDirectory directory;
  RunStore store = RunStore::open(directory / "results.db", OpenMode::kReadWrite);
  RunRecord run = test::plain_run("a");
  set_owner_to_this_process(run);
  store.create_run(run);
  store.drive("a");
  run.state = RunState::kDone;
  store.update_run(run);
  EXPECT_NO_THROW(store.put_steps("a", {}));
}

TEST_F(Heartbeat, AnOwnerElsewhereIsGoneWhenItGivesNoSign) {
  EXPECT_EQ(why_gone(run_elsewhere(kNow_ns - kStaleAfter_ns + 1), kNow_ns), "");
  EXPECT_NE(why_gone(run_elsewhere(kNow_ns - kStaleAfter_ns), kNow_ns).find("last sign of life 900 s ago"), std::string::npos);
  EXPECT_EQ(why_gone(run_elsewhere(kNow_ns + kStaleAfter_ns), kNow_ns), "") << "its clock is fast";
  EXPECT_EQ(why_gone(run_elsewhere(0), kNow_ns), "") << "an older ddbench gives none";
  EXPECT_FALSE(is_abandoned(run_elsewhere(1))) << "only whoever asks for this run takes it over";
  RunRecord here = run_elsewhere(1);
  set_owner_to_this_process(here);
  EXPECT_EQ(why_gone(here, kNow_ns), "") << "its process lives, however long the machine slept";
}

TEST_F(Heartbeat, AnEarlierStartOfTheSameJobIsOver) {
  ::setenv("SLURM_JOB_ID", "12", 1);
  RunRecord run = run_elsewhere(kNow_ns);
  add_origin_facts(run.environment.facts);
  EXPECT_FALSE(is_abandoned(run)) << "two runs of one start may be there at once";
  ::setenv("SLURM_RESTART_COUNT", "1", 1);
  EXPECT_TRUE(is_abandoned(run));
  EXPECT_NE(why_gone(run, kNow_ns).find("its job (slurm 12) was started again"), std::string::npos);
  ::setenv("SLURM_JOB_ID", "13", 1);
  EXPECT_FALSE(is_abandoned(run));
}

TEST_F(Heartbeat, ASchedulerThatDoesNotCountStartsSaysNothingOfThem) {
  ::setenv("PBS_JOBID", "7.server", 1);
  EXPECT_EQ(own_job().id, "pbs 7.server");
  EXPECT_FALSE(own_job().restarts);
  RunRecord run = run_elsewhere(kNow_ns);
  add_origin_facts(run.environment.facts);
  EXPECT_FALSE(is_abandoned(run));
}

}  // namespace
}  // namespace ddbench::store
