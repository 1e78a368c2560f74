#include "harness/experiment/ingest/kept_run.h"

#include <gtest/gtest.h>

#include <fstream>

#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/rows/run_store.h"
#include "temporary_directory.h"

namespace ddbench::experiment {
namespace {

namespace fs = std::filesystem;

class KeptRunTest : public testing::Test {
 protected:
  KeptRunTest() {
    fs::create_directories(run_directory_);
    fs::create_directories(db_.parent_path());
    auto store = store::RunStore::open(db_, store::OpenMode::kReadWrite);
    store.create_run(record());
    name_store(run_directory_, db_);
    std::ofstream(run_directory_ / "rank0.spool") << "spans";
  }
  store::RunRecord record() const {
    store::RunRecord run;
    run.id = id_;
    run.state = store::RunState::kDone;
    run.environment.facts["note.1"] = "a note";
    return run;
  }

  const test::TemporaryDirectory directory_;
  const store::RunId id_ = store::new_run_id();
  const fs::path db_ = directory_ / "disk" / "results.db";
  const fs::path run_directory_ = directory_.path() / id_;
};

TEST_F(KeptRunTest, TheRecordAndItsRanksComeBack) {
  EXPECT_FALSE(kept_run(run_directory_, id_));
  store::RankRecord rank;
  rank.outcome = "ok";
  keep_run(run_directory_, {record(), {rank}});
  const auto kept = kept_run(run_directory_, id_);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->run.state, store::RunState::kDone);
  EXPECT_EQ(kept->run.environment.facts.at("note.1"), "a note");
  ASSERT_EQ(kept->ranks.size(), 1u);
  EXPECT_EQ(kept->ranks[0].outcome, "ok");
  EXPECT_FALSE(kept_run(run_directory_, store::new_run_id())) << "another run's";
}

TEST_F(KeptRunTest, WhatCannotBeKeptIsNoError) {
  keep_run(directory_ / "nowhere" / "deep", {record(), {}});
  std::ofstream(run_directory_ / "run.db") << "half a record";
  EXPECT_FALSE(kept_run(run_directory_, id_));
}

TEST_F(KeptRunTest, SpoolsOfARunInItsStoreAreNeeded) {
  EXPECT_TRUE(is_needed(run_directory_));
  fs::remove(run_directory_ / "rank0.spool");
  EXPECT_FALSE(is_needed(run_directory_)) << "nothing was recorded";
}

TEST_F(KeptRunTest, SpoolsOfADeletedRunAreNotNeeded) {
  store::prune_store(db_, std::vector{id_}, store::PruneWhat::kRuns);
  EXPECT_FALSE(is_needed(run_directory_));
}

TEST_F(KeptRunTest, SpoolsOfADeletedStoreAreNotNeededButThoseOfAnUnmountedDiskAre) {
  fs::remove(db_);
  EXPECT_FALSE(is_needed(run_directory_));
  fs::remove_all(db_.parent_path());
  EXPECT_TRUE(is_needed(run_directory_));
}

TEST_F(KeptRunTest, SpoolsOfAStoreThatCannotBeReadAreNeeded) {
  std::ofstream(db_) << "no database";
  EXPECT_TRUE(is_needed(run_directory_));
}

TEST_F(KeptRunTest, WithoutANameOfAStoreNothingIsNeeded) {
  fs::remove(run_directory_ / "store");
  EXPECT_FALSE(is_needed(run_directory_));
}

}  // namespace
}  // namespace ddbench::experiment
