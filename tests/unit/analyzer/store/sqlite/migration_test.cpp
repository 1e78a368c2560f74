#include "analyzer/store/sqlite/migration.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <tuple>

#include "analyzer/store/rows/run_row.h"
#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/rows/run_texts.h"
#include "analyzer/store/sqlite/open_store.h"
#include "analyzer/store/sqlite/refresh_case_keys.h"
#include "analyzer/store/sqlite/row_checksum.h"
#include "expect_error.h"
#include "sample_records.h"
#include "temporary_directory.h"

namespace ddbench::store {
namespace {

namespace fs = std::filesystem;

// The store of a later ddbench, for which the one of today is old.
std::vector<Migration> with_next(std::string_view sql) {
  std::vector<Migration> list(builtin_migrations().begin(), builtin_migrations().end());
  list.push_back({list.back().version + 1, sql});
  return list;
}

constexpr std::string_view kAddColumn =
    "ALTER TABLE run ADD COLUMN mood TEXT NOT NULL DEFAULT 'good'; CREATE TABLE extra (x INTEGER);";

// What ddbench 0.1 stored. Never edited: such files lie on people's disks.
constexpr const char* kVersion1Rows =
    "INSERT INTO run VALUES (1, '20261121T001905-3f9a1c2b', 'done', '', 1, '', 'sweep', '', 0, 2, 3, 1000, "
    "2000, 'night',"
    "  'mlp', 2, 4, 8, 'weak', 64, 'fp32', 'ddp', 'cpu', 'gloo', '1gbit', '',"
    "  '{\"workload\":\"mlp\",\"nodes\":2,\"gpus_per_node\":4,\"link\":\"1gbit\",\"name\":\"night\"}', 'old "
    "key',"
    "  'fingerprint', 'veth@1gbit', '{\"kernel\":\"6.1\"}', 7, 8, 'boot', 'host');"
    "INSERT INTO rank VALUES (1, 0, 0, 0, 'host', 9, '0', 1, 2, 3, 4, 5, 6, 1, 0, 10, 'hash', 'ok');"
    "INSERT INTO step VALUES (1, 5, 0, 100, 55, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 0.5);"
    "INSERT INTO collective VALUES (1, 0, 'all_reduce', 0, 8, 1, 2, 3, 4, 1);"
    "INSERT INTO kernel VALUES (1, 0, 'linear', 'forward', 1, 2, 3);"
    "INSERT INTO step_value VALUES (1, 0, 'loss', 5, 0.5);"
    "INSERT INTO span_name VALUES (1, 0, 0, 'linear');"
    "INSERT INTO span_chunk VALUES (1, 0, 0, 2, 3, 4, 100, 180, "
    "x'"
    "445343310000000002000000000000004b0000000000000074f76e88577dca37010201c801010206020405000301040005280002"
    "00020010a01e0000000000000000000000000000000000');";

TEST(Version1Store, IsReadAndMigratedByTodaysProgram) {
  const test::TemporaryDirectory directory;
  const fs::path file = directory / "results.db";
  open_store(file, OpenMode::kReadWrite, builtin_migrations().first(1)).execute(kVersion1Rows);
  const OpenMode modes[] = {OpenMode::kReadOnly, OpenMode::kReadWrite, OpenMode::kReadOnly};
  for (const OpenMode mode : modes) {
    const RunStore store = RunStore::open(file, mode);
    const RunRecord run = store.find("night");
    EXPECT_EQ(run.id, "20261121T001905-3f9a1c2b");
    EXPECT_EQ(run.run_case.world_size(), 8);
    EXPECT_EQ(run.run_case.cuda_graph, RunCase{}.cuda_graph);
    EXPECT_EQ(run.environment.facts.at("kernel"), "6.1");
    EXPECT_EQ(run.owner_host, "host");
    EXPECT_EQ(store.runs({.case_key = case_key(run.run_case)}).size(), 1u);
    EXPECT_EQ(store.ranks(run.id).at(0).parameter_hash, "hash");
    EXPECT_EQ(store.steps(run.id).at(0).partition.total_ns(), store.steps(run.id).at(0).duration_ns);
    EXPECT_EQ(store.collectives(run.id).at(0).function, "all_reduce");
    EXPECT_EQ(store.collectives(run.id).at(0).nccl_algorithm, "");
    EXPECT_EQ(store.kernels(run.id).at(0).name, "linear");
    EXPECT_EQ(store.step_values(run.id, 0, "loss").at(0).second, 0.5);
    EXPECT_EQ(store.span_names(run.id, 0).at(0), "linear");
    EXPECT_EQ(store.spans(run.id, 0).at(1).end_ns, 180);
  }
}

TEST(Version12Store, ImportsSayThemselvesThatTheirNodesAreNotStated) {
  const test::TemporaryDirectory directory;
  const fs::path file = directory / "results.db";
  {
    const Database old = open_store(file, OpenMode::kReadWrite, builtin_migrations().first(12));
    RunRecord unplaced = test::plain_run("20261121T001905-3f9a1c2b");
    unplaced.run_case.gpus_per_node = 8;
    RunRecord placed = unplaced, broken = unplaced;
    placed.id = "20261121T001905-3f9a1c2c";
    broken.id = "20261121T001905-3f9a1c2d";
    unplaced.environment.facts["import.nodes"] = "not said";
    for (const RunRecord* const run : {&unplaced, &placed, &broken}) {
      CaseCache cases;
      const RunTexts texts(*run, cases);
      const CompleteRun complete{*run, texts, {}, {}, {}};
      insert_runs(old, {&complete, 1});
    }
    old.execute("UPDATE run SET facts_json = '{\"import.nodes\"' WHERE id LIKE '%d'");
  }
  const RunStore store = RunStore::open(file, OpenMode::kReadWrite);
  const RunRecord run = store.run("20261121T001905-3f9a1c2b").value();
  EXPECT_TRUE(run.run_case.nodes_not_stated);
  EXPECT_EQ(run.run_case.world_size(), 8);
  EXPECT_FALSE(run.environment.facts.contains("import.nodes"));
  EXPECT_EQ(store.runs({.case_key = case_key(run.run_case)}).size(), 1u);
  EXPECT_FALSE(store.run("20261121T001905-3f9a1c2c").value().run_case.nodes_not_stated);
}

/// Stored by a ddbench without communicators: a training run, a program and nccl-tests.
TEST(Version9Store, LearnsItsCommunicatorsWhereTheyAreKnown) {
  const test::TemporaryDirectory directory;
  const fs::path file = directory / "results.db";
  constexpr std::string_view kFirst = "20261121T001905-3f9a1c2";
  open_store(file, OpenMode::kReadWrite, builtin_migrations().first(1)).execute(kVersion1Rows);
  {
    const Database database = open_store(file, OpenMode::kReadWrite, builtin_migrations().first(9));
    for (const auto& [number, workload, case_json] :
         {std::tuple{2, "program", R"({"workload":"program","nodes":2,"gpus_per_node":4})"},
          {3, "nccl-tests",
           R"({"workload":"nccl-tests","nodes":2,"gpus_per_node":4,"workload_options":{"type":"bfloat16"}})"}}) {
      database.execute(
          fmt::format("INSERT INTO run SELECT {0}, '{1}{0}', state, reason, valid, invalid_reason, sweep_id, baseline_id,"
                      " is_baseline, repetition, provenance, started_wall_ns, finished_wall_ns, name, '{2}', nodes,"
                      " gpus_per_node, world_size, scaling, batch_per_gpu, precision, strategy, device, backend, link, sku,"
                      " '{3}', case_key, fingerprint, network, facts_json, owner_pid, owner_start_ticks, owner_boot_id,"
                      " owner_host, NULL FROM run WHERE run_key = 1;"
                      "INSERT INTO collective (run_key, position, function, bucket, bytes, count, transfer_ns, duration_ns,"
                      " peer_wait_ns, peer_wait_resolved) VALUES ({0}, 0, 'all_reduce', 0, 8, 1, 2, 3, 4, 1);",
                      number, kFirst, workload, case_json)
              .c_str());
    }
    compute_checksums(database, true);
  }
  const RunStore store = RunStore::open(file, OpenMode::kReadWrite);
  const auto communicator = [&](int run) {
    return store.collectives(fmt::format("{}{}", kFirst, run)).at(0).communicator;
  };
  const CommunicatorRecord all{8, "", 0};
  EXPECT_EQ(store.collectives("20261121T001905-3f9a1c2b").at(0).communicator, all);
  EXPECT_EQ(communicator(2), CommunicatorRecord{}) << "a program may have had several";
  EXPECT_EQ(communicator(3), all);
  const RunRecord nccl_tests = *store.run(fmt::format("{}3", kFirst));
  EXPECT_EQ(nccl_tests.run_case.precision, "bfloat16");
  EXPECT_EQ(nccl_tests.run_case.strategy, "");
  EXPECT_EQ(store.runs({.case_key = case_key(nccl_tests.run_case)}).size(), 1u);
  const Database database(file, Access::kExisting);
  EXPECT_EQ(database.integer("SELECT count(*) FROM run WHERE precision = 'bfloat16' AND strategy = ''"), 1);
  EXPECT_TRUE(changed_rows(database, 10).empty());
}

TEST(Version10Store, ItsTextsOfCasesBecomeHashes) {
  const test::TemporaryDirectory directory;
  const fs::path file = directory / "results.db";
  open_store(file, OpenMode::kReadWrite, builtin_migrations().first(1)).execute(kVersion1Rows);
  open_store(file, OpenMode::kReadWrite, builtin_migrations().first(10));
  const RunStore store = RunStore::open(file, OpenMode::kReadWrite);
  const RunRecord run = store.find("night");
  EXPECT_EQ(run.run_case.link, "1gbit");
  EXPECT_EQ(store.runs({.case_key = case_key(run.run_case)}).size(), 1u);
  RunCase other = run.run_case;
  other.link = "10gbit";
  EXPECT_TRUE(store.runs({.case_key = case_key(other)}).empty());
  const Database database(file, Access::kExisting);
  EXPECT_EQ(database.integer("SELECT length(case_key) FROM run"), 32);
  EXPECT_TRUE(changed_rows(database, 10).empty());
}

class MigrationTest : public testing::Test {
 protected:
  MigrationTest() {
    RunStore store = RunStore::open(file_, OpenMode::kReadWrite);
    store.create_run(test::full_run("old"));
    store.append_spans("old", 0, std::vector{Span{.begin_ns = 42}}, std::vector<std::string>{"name"});
  }
  int files() const {
    return static_cast<int>(
        std::distance(fs::directory_iterator(directory_.path()), fs::directory_iterator()));
  }
  std::int64_t query(const fs::path& file, const char* sql) const {
    return Database(file, Access::kExisting).integer(sql);
  }

  const int version_ = builtin_migrations().back().version;
  test::TemporaryDirectory directory_;
  fs::path file_ = directory_ / "results.db";
  fs::path backup_ = file_.string() + ".v" + std::to_string(version_) + ".bak";
};

TEST(BuiltinMigrations, CountUpFromOne) {
  int version = 0;
  for (const Migration& migration : builtin_migrations()) {
    EXPECT_EQ(migration.version, ++version);
    EXPECT_FALSE(migration.sql.empty());
  }
  EXPECT_GE(version, 1);
}

TEST(BuiltinMigrations, RunsOnGpusBeforeVersion5CapturedNoGraph) {
  const test::TemporaryDirectory directory;
  const fs::path file = directory / "old.db";
  open_store(file, OpenMode::kReadWrite, builtin_migrations().first(1)).execute(kVersion1Rows);
  Database(file, Access::kExisting)
      .execute("UPDATE run SET case_json = '{\"workload\":\"mlp\",\"device\":\"cuda\"}'");
  EXPECT_EQ(RunStore::open(file, OpenMode::kReadWrite).find("night").run_case.cuda_graph, CudaGraphs::kOff);
}

TEST(BuiltinMigrations, StoresOfVersion3TakeTheStatePreempted) {
  const test::TemporaryDirectory directory;
  const fs::path file = directory / "old.db";
  open_store(file, OpenMode::kReadWrite, builtin_migrations().first(3));
  RunStore store = RunStore::open(file, OpenMode::kReadWrite);
  RunRecord run = test::full_run("run");
  store.create_run(run);
  store.append_spans("run", 0, std::vector{Span{.begin_ns = 42}}, std::vector<std::string>{"name"});
  run.state = RunState::kPreempted;
  store.update_run(run);
  EXPECT_EQ(store.find("run").state, RunState::kPreempted);
  EXPECT_EQ(store.spans("run", 0).size(), 1u);
  const Database database(file, Access::kExisting);
  EXPECT_THROW(database.execute("UPDATE run SET state = 'dancing'"), Error);
  EXPECT_EQ(database.integer("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
}

TEST_F(MigrationTest, OlderStoreIsBackedUpAndMigrated) {
  const std::vector<Migration> next = with_next(kAddColumn);
  {
    const Database migrated = open_store(file_, OpenMode::kReadWrite, next);
    EXPECT_EQ(migrated.integer("PRAGMA user_version"), version_ + 1);
    EXPECT_EQ(migrated.integer("SELECT count(*) FROM run WHERE mood = 'good'"), 1);
    const std::vector<RunRecord> runs = select_runs(migrated, "", {}, 0);
    ASSERT_EQ(runs.size(), 1u);
    test::expect_same(runs[0], test::full_run("old"));
  }
  EXPECT_EQ(files(), 2);
  const RunStore backup = RunStore::open(backup_, OpenMode::kReadOnly);
  test::expect_same(backup.find("old"), test::full_run("old"));
  EXPECT_EQ(backup.spans("old", 0).at(0).begin_ns, 42);
  EXPECT_ERROR(ErrorCode::kBadInput, "upgrade ddbench", RunStore::open(file_, OpenMode::kReadWrite));
}

TEST_F(MigrationTest, TheBackupOfASharedStoreIsItsGroupsAndGoesThroughNoLink) {
  fs::permissions(file_, fs::perms(0660));
  const fs::path victim = directory_ / "victim";
  std::ofstream(victim) << "text";
  fs::permissions(victim, fs::perms(0600));
  fs::create_symlink(victim, backup_.string() + ".unfinished");
  open_store(file_, OpenMode::kReadWrite, with_next(kAddColumn));
  EXPECT_EQ(fs::status(backup_).permissions(), fs::perms(0660));
  EXPECT_EQ(fs::status(victim).permissions(), fs::perms(0600));
  EXPECT_EQ(fs::file_size(victim), 4u);
  test::expect_same(RunStore::open(backup_, OpenMode::kReadOnly).find("old"), test::full_run("old"));
}

TEST_F(MigrationTest, MigratedStoreIsNotMigratedAgain) {
  const std::vector<Migration> next = with_next(kAddColumn);
  open_store(file_, OpenMode::kReadWrite, next);
  fs::remove(backup_);
  open_store(file_, OpenMode::kReadWrite, next);
  EXPECT_FALSE(fs::exists(backup_));
}

TEST_F(MigrationTest, NewStoreGoesThroughAllMigrations) {
  const fs::path fresh = directory_ / "fresh.db";
  const Database database = open_store(fresh, OpenMode::kReadWrite, with_next(kAddColumn));
  EXPECT_EQ(database.integer("PRAGMA user_version"), version_ + 1);
  EXPECT_EQ(database.integer("SELECT count(*) FROM extra"), 0);
  EXPECT_EQ(files(), 3 + 1) << "two stores, and the log of the open one";
}

TEST_F(MigrationTest, ReaderGetsAMigratedCopyAndLeavesTheFileAlone) {
  {
    const Database copy = open_store(file_, OpenMode::kReadOnly, with_next(kAddColumn));
    EXPECT_EQ(copy.integer("SELECT count(*) FROM run WHERE mood = 'good'"), 1);
    EXPECT_EQ(copy.integer("PRAGMA user_version"), version_ + 1);
    EXPECT_THROW(copy.execute("DELETE FROM run"), Error);
  }
  EXPECT_EQ(query(file_, "PRAGMA user_version"), version_);
  EXPECT_EQ(files(), 1);
}

TEST_F(MigrationTest, FailedMigrationChangesNothing) {
  const auto broken =
      with_next("CREATE TABLE extra (x INTEGER); DELETE FROM run; INSERT INTO nowhere VALUES (1);");
  const std::string message =
      test::message_of(ErrorCode::kRunFailed, [&] { open_store(file_, OpenMode::kReadWrite, broken); });
  EXPECT_TRUE(test::contains(message, "cannot migrate " + file_.string() + " from schema version"))
      << message;
  EXPECT_TRUE(test::contains(message, "nowhere")) << message;
  test::expect_same(RunStore::open(file_, OpenMode::kReadWrite).find("old"), test::full_run("old"));
  EXPECT_EQ(query(file_, "SELECT count(*) FROM sqlite_schema WHERE name = 'extra'"), 0);
}

TEST_F(MigrationTest, MigrationThatOrphansRowsIsRefused) {
  EXPECT_ERROR(ErrorCode::kRunFailed, "belong to no run",
               open_store(file_, OpenMode::kReadWrite, with_next("DELETE FROM run;")));
  EXPECT_EQ(RunStore::open(file_, OpenMode::kReadOnly).runs().size(), 1u);
}

TEST_F(MigrationTest, BackupThatCannotBeWrittenStopsTheMigration) {
  fs::create_directory(backup_);
  EXPECT_ERROR(ErrorCode::kRunFailed, backup_.string(),
               open_store(file_, OpenMode::kReadWrite, with_next(kAddColumn)));
  EXPECT_EQ(query(file_, "PRAGMA user_version"), version_);
  EXPECT_EQ(files(), 2) << "the store and the directory in the way";
}

TEST_F(MigrationTest, WhatAKilledMigrationLeftIsReplaced) {
  const fs::path unfinished = backup_.string() + ".unfinished";
  std::ofstream(unfinished) << "the first pages of a copy";
  open_store(file_, OpenMode::kReadWrite, with_next(kAddColumn));
  EXPECT_EQ(files(), 2) << "the store and its backup";
  test::expect_same(RunStore::open(backup_, OpenMode::kReadOnly).find("old"), test::full_run("old"));
}

TEST_F(MigrationTest, RunsAreFoundByTheKeyOfTodaysCase) {
  Database(file_, Access::kExisting).execute("UPDATE run SET case_key = 'of an older program'");
  const Database migrated = open_store(file_, OpenMode::kReadWrite, with_next(kAddColumn));
  EXPECT_EQ(select_runs(migrated, "case_key = ?", {stored_case_key(case_key(test::full_run("old").run_case))}, 0).size(), 1u);
}

}  // namespace
}  // namespace ddbench::store
