#include "analyzer/store/sqlite/journal.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/sqlite/migration.h"
#include "sample_records.h"
#include "temporary_directory.h"

namespace ddbench::store {
namespace {

namespace fs = std::filesystem;

class JournalTest : public testing::Test {
 protected:
  std::optional<Journal> journal() const { return journal_of(Database(file_, Access::kExisting)); }
  /// As a machine that mounts the store's disk over a network does before it reads.
  void leave_log_of(const fs::path& file) const { leave_log(Database(file, Access::kExisting)); }
  void make_rollback_store() const {
    RunStore::open(file_, OpenMode::kReadWrite);
    leave_log_of(file_);
  }

  test::TemporaryDirectory directory_;
  fs::path file_ = directory_ / "results.db";
};

TEST_F(JournalTest, FileSystemsOfSeveralMachinesAreKnownByTheirType) {
  EXPECT_TRUE(known_file_system(0xEF53)->shares_maps);
  EXPECT_EQ(known_file_system(0x6969)->name, "nfs");
  for (const std::uint64_t type : {0x6969ul, 0x65735546ul, 0x0BD00BD0ul, 0xFF534D42ul, 0x47504653ul})
    EXPECT_FALSE(known_file_system(type)->shares_maps) << type;
  EXPECT_FALSE(known_file_system(0x1234));
  EXPECT_TRUE(inspect_file_system(directory_ / "to" / "come").shares_maps);
  EXPECT_NO_THROW(require_locks(directory_.path(), {}));
}

TEST_F(JournalTest, AStoreKeepsTheJournalThatItHas) {
  RunStore::open(file_, OpenMode::kReadWrite).create_run(test::full_run("a"));
  EXPECT_EQ(journal(), Journal::kLog);
  EXPECT_TRUE(journal_in_use(file_).starts_with("write-ahead log on "));
  leave_log_of(file_);
  EXPECT_EQ(journal(), Journal::kRollback);
  RunStore::open(file_, OpenMode::kReadWrite).create_run(test::full_run("b"));
  EXPECT_EQ(journal(), Journal::kRollback);
  EXPECT_TRUE(check_store(file_).journal.starts_with("rollback journal on ")) << check_store(file_).journal;
  EXPECT_EQ(check_store(file_).runs, 2);
}

TEST_F(JournalTest, WhatAKilledWriterLeftInItsLogIsKept) {
  const fs::path copy = directory_ / "copy.db";
  {
    RunStore store = RunStore::open(file_, OpenMode::kReadWrite);
    store.create_run(test::full_run("a"));
    for (const char* end : {"", "-wal"}) fs::copy_file(file_.string() + end, copy.string() + end);
  }
  leave_log_of(copy);
  EXPECT_EQ(check_store(copy).runs, 1);
  EXPECT_TRUE(check_store(copy).problems.empty());
  EXPECT_FALSE(fs::exists(copy.string() + "-wal"));
}

TEST_F(JournalTest, AStoreWhoseLogWasNeverMergedIsKnownAsOne) {
  const fs::path copy = directory_ / "copy.db";
  {
    // The file itself does not say yet whose it is.
    const Database log(file_, Access::kCreate);
    log.execute("PRAGMA journal_mode = WAL");
    log.execute(("PRAGMA application_id = " + std::to_string(kApplicationId) + "; CREATE TABLE a (b)").c_str());
    for (const char* end : {"", "-wal"}) fs::copy_file(file_.string() + end, copy.string() + end);
  }
  leave_log_of(copy);
  const Database merged(copy, Access::kExisting);
  EXPECT_EQ(journal_of(merged), Journal::kRollback);
  EXPECT_EQ(merged.integer("SELECT count(*) FROM a"), 0) << "its table is there";
}

TEST_F(JournalTest, AnotherProgramsDatabaseIsLeftAsItIs) {
  Database(file_, Access::kCreate).execute("PRAGMA journal_mode = WAL; CREATE TABLE theirs (a)");
  leave_log_of(file_);
  EXPECT_EQ(journal(), Journal::kLog);
}

TEST_F(JournalTest, WritersWaitForEachOtherAndForReaders) {
  make_rollback_store();
  constexpr int kWriters = 3;
  constexpr int kRuns = 5;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      RunStore store = RunStore::open(file_, OpenMode::kReadWrite);
      for (int run = 0; run < kRuns; ++run)
        store.create_run(test::plain_run("w" + std::to_string(writer) + "r" + std::to_string(run)));
    });
  }
  std::size_t seen = 0;
  while (seen < kWriters * kRuns) {
    const std::size_t now = RunStore::open(file_, OpenMode::kReadOnly).runs().size();
    EXPECT_GE(now, seen);
    seen = now;
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_TRUE(check_store(file_).problems.empty());
}

TEST_F(JournalTest, WhatAWriterHadBegunWhenItWasKilledIsTakenBack) {
  make_rollback_store();
  RunStore::open(file_, OpenMode::kReadWrite).create_run(test::plain_run("before"));
  const pid_t writer = fork();
  if (writer == 0) {
    RunStore store = RunStore::open(file_, OpenMode::kReadWrite);
    Batch batch(store);
    store.create_run(test::plain_run("half"));
    RunRecord large = test::plain_run("large");
    large.reason = std::string(64 << 20, 'x');  // more than the cache: pages go into the file before the commit
    store.create_run(large);
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(writer, &status, 0), writer);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(RunStore::open(file_, OpenMode::kReadOnly).runs().size(), 1u);
  EXPECT_TRUE(check_store(file_).problems.empty());
}

}  // namespace
}  // namespace ddbench::store
