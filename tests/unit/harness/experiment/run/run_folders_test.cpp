#include "harness/experiment/run/run_folders.h"

#include <gtest/gtest.h>

#include <fstream>

#include "analyzer/store/rows/run_store.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "harness/experiment/ingest/program_output.h"
#include "harness/experiment/run/checkpoint_folder.h"
#include "temporary_directory.h"

namespace ddbench::experiment {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRun = "20260101T000000-aaaaaaaa";
constexpr const char* kOther = "20260101T000001-bbbbbbbb";

class RunFoldersTest : public testing::Test {
 protected:
  store::RunRecord run_with_output(const std::string& id) {
    fs::create_directories(logs_);
    fs::permissions(logs_, fs::perms(0700));
    OwnedDirectory::make_marked(logs_ / id, kOutputPurpose);
    std::ofstream(logs_ / id / "rank0.log") << "text";
    store::RunRecord run;
    run.id = id;
    return run;
  }

  test::TemporaryDirectory directory_;
  fs::path store_ = directory_ / "results.db";
  fs::path logs_ = directory_ / "results.db.logs";
};

TEST_F(RunFoldersTest, AreGoneAfterTheRowsOnly) {
  const std::vector<store::RunRecord> deleted{run_with_output(kRun)};
  RunFolders folders(store_);
  folders.put_aside(deleted, {}, true);
  EXPECT_FALSE(fs::exists(logs_ / kRun)) << "nobody else can begin to use it";
  EXPECT_TRUE(fs::exists(logs_ / (std::string(".deleting-") + kRun) / "rank0.log"));
  EXPECT_EQ(folders.remove(), std::vector<std::string>());
  EXPECT_FALSE(fs::exists(logs_));
}

TEST_F(RunFoldersTest, GetTheirNamesBackWhereTheRowsStay) {
  const std::vector<store::RunRecord> deleted{run_with_output(kRun)};
  { RunFolders(store_).put_aside(deleted, {}, true); }
  EXPECT_TRUE(fs::exists(logs_ / kRun / "rank0.log"));
}

TEST_F(RunFoldersTest, OfAKilledProcessGetTheirNamesBackOrAreRemoved) {
  const std::vector<store::RunRecord> runs{run_with_output(kRun), run_with_output(kOther)};
  for (const store::RunRecord& run : runs) fs::rename(logs_ / run.id, logs_ / (".deleting-" + run.id));
  store::RunStore::open(store_, store::OpenMode::kReadWrite).create_run(runs[1]);
  settle_folders_aside(store_);
  EXPECT_FALSE(fs::exists(logs_ / (std::string(".deleting-") + kRun)));
  EXPECT_FALSE(fs::exists(logs_ / kRun));
  EXPECT_TRUE(fs::exists(logs_ / kOther / "rank0.log"));
}

TEST_F(RunFoldersTest, ThatHoldSomethingOfOthersKeepTheirNames) {
  const std::vector<store::RunRecord> deleted{run_with_output(kRun)};
  std::ofstream(logs_ / kRun / "notes.txt") << "mine";
  RunFolders folders(store_);
  folders.put_aside(deleted, {}, true);
  const std::vector<std::string> notes = folders.remove();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("notes.txt, which ddbench did not write"), std::string::npos) << notes[0];
  EXPECT_TRUE(fs::exists(logs_ / kRun / "rank0.log"));
}

TEST_F(RunFoldersTest, CheckpointsStayWhereARunThatCannotBeReadMayContinueFromThem) {
  store::RunRecord run;
  run.id = kRun;
  const fs::path checkpoints = directory_ / "results.db.checkpoints";
  set_fact(run.environment.facts, fact_key<"checkpoint.directory">, (checkpoints / kRun).string());
  fs::create_directory(checkpoints);
  OwnedDirectory::make_marked(checkpoints / kRun, kCheckpointPurpose);
  for (const bool known : {false, true}) {
    RunFolders folders(store_);
    folders.put_aside(std::vector{run}, {}, known);
    EXPECT_EQ(folders.remove().size(), known ? 0u : 1u);
    EXPECT_EQ(fs::exists(checkpoints / kRun), !known);
  }
}

}  // namespace
}  // namespace ddbench::experiment
