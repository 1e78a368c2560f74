#include "analyzer/store/maintenance/collect_runs.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/sqlite/database.h"
#include "core/clock.h"
#include "expect_error.h"
#include "sample_records.h"
#include "temporary_directory.h"

namespace ddbench::store {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<RunId>;

class CollectRuns : public testing::Test {
 protected:
  void add(const fs::path& file, const RunId& id, RunState state = RunState::kDone) {
    RunRecord run = test::full_run(id);
    run.id = id;
    run.state = state;
    RunStore::open(file, OpenMode::kReadWrite).create_run(run);
  }
  Ids collect(const std::string& state = "") { return collect_runs(target_, source_, {"node1", state}); }

  std::set<RunId> collected() {
    std::set<RunId> ids;
    for (const CollectedRun& run : collected_runs(target_)) ids.insert(run.id);
    return ids;
  }

  test::TemporaryDirectory directory_;
  fs::path target_ = directory_ / "team.db";
  fs::path source_ = directory_ / "node.db";
};

TEST_F(CollectRuns, TakesEachRunOnceEvenIfItWasDeletedSince) {
  add(target_, "own");
  add(source_, "a");
  add(source_, "b");
  EXPECT_EQ(collect(), (Ids{"a", "b"}));
  EXPECT_EQ(collect(), Ids());
  EXPECT_EQ(collected(), (std::set<RunId>{"a", "b"})) << "and not its own";
  prune_store(target_, Ids{"a"}, PruneWhat::kRuns);
  add(source_, "c");
  EXPECT_EQ(known_runs(target_), (std::set<RunId>{"own", "a", "b"}));
  EXPECT_EQ(collect(), Ids{"c"});
  EXPECT_EQ(collected(), (std::set<RunId>{"b", "c"}));
  EXPECT_TRUE(check_store(target_).problems.empty());
}

TEST_F(CollectRuns, AClockThatIsAheadMakesNoRunNewerThanItsCollection) {
  add(source_, "a");
  add(source_, "b");
  RunStore source = RunStore::open(source_, OpenMode::kReadWrite);
  RunRecord ahead = *source.run("a");
  ahead.started_wall_ns = std::numeric_limits<std::int64_t>::max() / 2;
  source.update_run(ahead);
  const std::int64_t before_ns = wall_ns();
  collect();
  const std::vector<CollectedRun> runs = collected_runs(target_);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].id, "a");
  EXPECT_EQ(runs[0].source, "node1");
  EXPECT_GE(runs[0].wall_ns, before_ns);
  EXPECT_LE(runs[0].wall_ns, wall_ns());
  EXPECT_EQ(runs[1].wall_ns, source.run("b")->started_wall_ns);
}

TEST_F(CollectRuns, LeavesRunsThatGoOn) {
  add(source_, "a", RunState::kRunning);
  EXPECT_EQ(collect(), Ids());
  RunStore source = RunStore::open(source_, OpenMode::kReadWrite);
  RunRecord run = *source.run("a");
  run.state = RunState::kDone;
  source.update_run(run);
  EXPECT_EQ(collect(), Ids{"a"});
}

TEST_F(CollectRuns, NothingThatTheStoreHasIsReplaced) {
  add(target_, "a");
  add(source_, "a", RunState::kFailed);
  EXPECT_EQ(collect(), Ids());
  EXPECT_EQ(RunStore::open(target_, OpenMode::kReadOnly).run("a")->state, RunState::kDone);
  EXPECT_TRUE(collected().empty()) << "it stays the store's own";
}

TEST_F(CollectRuns, WhatIsDamagedIsRefusedAsAWhole) {
  add(target_, "own");
  add(source_, "a");
  add(source_, "b");
  Database(source_, Access::kExisting).execute("UPDATE run SET reason = 'another' WHERE id = 'b'");
  EXPECT_ERROR(ErrorCode::kBadInput, "what node1 has is damaged, and nothing of it was taken",
               collect("state"));
  EXPECT_EQ(known_runs(target_), std::set<RunId>{"own"});
  EXPECT_EQ(collected_state(target_, "node1"), "") << "so that the next attempt reads it again";
  std::ofstream(source_) << "no store at all";
  EXPECT_ERROR(ErrorCode::kBadInput, "is no ddbench store", collect());
}

TEST_F(CollectRuns, AnIdThatDdbenchNeverGaveIsRefused) {
  add(source_, "a");
  Database(source_, Access::kExisting).execute("UPDATE run SET id = '../a'");
  EXPECT_ERROR(ErrorCode::kBadInput, "", collect());
  EXPECT_TRUE(known_runs(target_).empty());
}

TEST_F(CollectRuns, TheStateOfAStoreChangesWithEachWrite) {
  EXPECT_EQ(state_of_files(source_), "");
  add(source_, "a");
  const std::string before = state_of_files(source_);
  EXPECT_NE(before, "");
  EXPECT_EQ(state_of_files(source_), before);
  EXPECT_EQ(RunStore::open(source_, OpenMode::kReadOnly).runs().size(), 1u);
  EXPECT_EQ(state_of_files(source_), before) << "reading does not change it";
  RunStore open = RunStore::open(source_, OpenMode::kReadWrite);
  open.create_run(test::plain_run("b"));
  EXPECT_NE(state_of_files(source_), before) << "in its log";
  EXPECT_EQ(collected_state(target_, "node1"), "");
  EXPECT_EQ(collect_runs(target_, "", {"node1", "as it was"}), Ids());
  EXPECT_EQ(collected_state(target_, "node1"), "as it was");
}

}  // namespace
}  // namespace ddbench::store
