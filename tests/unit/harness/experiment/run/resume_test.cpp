#include "harness/experiment/run/resume.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "core/facts/facts.h"
#include "core/run_case/scheduler_job.h"
#include "expect_error.h"
#include "temporary_directory.h"

namespace ddbench::experiment {
namespace {

namespace fs = std::filesystem;

store::RunRecord run_of(const std::string& user, std::int64_t started_wall_ns) {
  store::RunRecord run;
  run.id = store::new_run_id();
  run.run_case.name = "night";
  run.started_wall_ns = started_wall_ns;
  set_fact(run.environment.facts, fact_key<"owner.user">, user);
  return run;
}

TEST(NewestOfName, IsAnotherUsersOnlyInAStoreOfOneUser) {
  const test::TemporaryDirectory directory;
  const fs::path file = directory / "results.db";
  store::RunStore store = store::RunStore::open(file, store::OpenMode::kReadWrite);
  EXPECT_FALSE(newest_of_name(store, "night"));
  const store::RunRecord own = run_of(current_user(), 1);
  const store::RunRecord other = run_of("another user", 2);
  store.create_run(own);
  store.create_run(other);
  EXPECT_EQ(newest_of_name(store, "night")->id, other.id) << "such as a run that was merged";
  fs::permissions(file, fs::perms(0660));
  EXPECT_EQ(newest_of_name(store, "night")->id, own.id);
  EXPECT_FALSE(newest_of_name(store, "day"));
}

class ContinuedRuns : public testing::Test {
 protected:
  store::RunRecord run_with(store::RunState state, const store::RunId& continues = {}, const fs::path& folder = {}) {
    store::RunRecord run = run_of(current_user(), ++started_);
    run.run_case.checkpoint_every = 2;
    run.run_case.warmup = 0;
    run.run_case.steps = 4;
    run.run_case.gpus_per_node = 2;
    run.state = state;
    run.reason = "Ctrl-C";
    if (!continues.empty()) set_fact(run.environment.facts, fact_key<"resumed.from">, continues);
    set_fact(run.environment.facts, fact_key<"checkpoint.directory">, (folder.empty() ? directory_ / "elsewhere" / "a" : folder).string());
    store_.create_run(run);
    return run;
  }
  void put_steps(const store::RunId& id, int rank, std::uint32_t first, std::uint32_t end) {
    std::vector<store::StepRecord> steps;
    for (std::uint32_t step = first; step < end; ++step) {
      steps.emplace_back().rank = rank;
      steps.back().step = step;
    }
    store_.put_steps(id, steps);
  }

  test::TemporaryDirectory directory_;
  store::RunStore store_ = store::RunStore::open(directory_ / "results.db", store::OpenMode::kReadWrite);
  std::int64_t started_ = 0;
};

TEST_F(ContinuedRuns, TheLastOfAChainIsContinued) {
  const store::RunRecord a = run_with(store::RunState::kInterrupted);
  EXPECT_EQ(newest_continuation(store_, a).id, a.id);
  run_with(store::RunState::kFailed, a.id);
  const store::RunRecord b = run_with(store::RunState::kInterrupted, a.id);
  const store::RunRecord c = run_with(store::RunState::kInterrupted, b.id);
  run_with(store::RunState::kInterrupted);
  EXPECT_EQ(newest_continuation(store_, a).id, c.id);
  EXPECT_ERROR(ErrorCode::kBadInput, "there is no checkpoint", find_resume(store_, a.id, {}));
  const store::RunRecord done = run_with(store::RunState::kDone, c.id);
  EXPECT_ERROR(ErrorCode::kBadInput, "run " + done.id + " is complete", find_resume(store_, a.id, {}));
}

TEST_F(ContinuedRuns, AFolderThatNobodyNamedIsReadBesideTheStoreOnly) {
  const store::RunRecord a = run_with(store::RunState::kInterrupted);
  const store::RunRecord merged = run_with(store::RunState::kInterrupted, a.id, directory_ / "of another" / "a");
  EXPECT_ERROR(ErrorCode::kBadInput, "not a folder beside its store", find_resume(store_, a.id, {}));
  EXPECT_ERROR(ErrorCode::kBadInput, "there is no checkpoint", find_resume(store_, merged.id, {}));
}

TEST_F(ContinuedRuns, RunsThatContinueEachOtherInACircleEnd) {
  store::RunRecord a = run_with(store::RunState::kInterrupted);
  const store::RunRecord b = run_with(store::RunState::kInterrupted, a.id);
  set_fact(a.environment.facts, fact_key<"resumed.from">, b.id);
  store_.update_run(a);
  EXPECT_EQ(newest_continuation(store_, a).id, b.id);
}

TEST_F(ContinuedRuns, ARunStoppedAfterItsLastStepIsDoneIfAllItsStepsAreThere) {
  store::RunRecord run = run_with(store::RunState::kInterrupted, "before");
  set_fact(run.environment.facts, fact_key<"resumed.at_step">, 2);
  store_.update_run(run);
  put_steps(run.id, 0, 2, 4);
  put_steps(run.id, 1, 2, 3);
  EXPECT_FALSE(close_if_complete(store_, run.id)) << "the last step of rank 1 is not";
  EXPECT_EQ(store_.run(run.id)->state, store::RunState::kInterrupted);
  put_steps(run.id, 1, 3, 4);
  EXPECT_TRUE(close_if_complete(store_, run.id));
  const store::RunRecord closed = *store_.run(run.id);
  EXPECT_EQ(closed.state, store::RunState::kDone);
  EXPECT_EQ(closed.reason, "");
  EXPECT_NE(closed.environment.facts.at("note.1").find("interrupted after its last step"), std::string::npos);
  store::RunRecord failed = run_with(store::RunState::kFailed);
  for (const int rank : {0, 1}) put_steps(failed.id, rank, 0, 4);
  EXPECT_FALSE(close_if_complete(store_, failed.id)) << "it failed";
}

TEST(Resume, WithTheLastCheckpointHasAllSteps) {
  Resume resume;
  resume.run.run_case.warmup = 1;
  resume.run.run_case.steps = 4;
  resume.checkpoint.steps_done = 4;
  EXPECT_FALSE(resume.has_all_steps());
  resume.checkpoint.steps_done = 5;
  EXPECT_TRUE(resume.has_all_steps());
}

}  // namespace
}  // namespace ddbench::experiment
