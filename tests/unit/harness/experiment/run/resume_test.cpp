#include "harness/experiment/run/resume.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/facts/facts.h"
#include "core/run_case/scheduler_job.h"
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

}  // namespace
}  // namespace ddbench::experiment
