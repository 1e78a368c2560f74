#include "analyzer/store/sqlite/open_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "expect_error.h"
#include "sample_records.h"
#include "temporary_directory.h"

namespace ddbench::store {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

class OpenStore : public testing::Test {
 protected:
  int files() const {
    return static_cast<int>(
        std::distance(fs::directory_iterator(directory_.path()), fs::directory_iterator()));
  }
  std::int64_t query(const fs::path& file, const char* sql) const {
    return Database(file, Access::kExisting).integer(sql);
  }

  test::TemporaryDirectory directory_;
  fs::path file_ = directory_ / "results.db";
};

TEST_F(OpenStore, MissingStoreIsCreatedForWritingOnly) {
  EXPECT_ERROR(ErrorCode::kBadInput, "there is no store " + file_.string(),
               RunStore::open(file_, OpenMode::kReadOnly));
  EXPECT_EQ(files(), 0);
  const fs::path deep = directory_.path() / "a b" / "c%20?#" / "results.db";
  RunStore::open(deep, OpenMode::kReadWrite).create_run(test::plain_run("x"));
  EXPECT_EQ(RunStore::open(deep, OpenMode::kReadOnly).runs().size(), 1u);
}

TEST_F(OpenStore, NewStoreSaysWhatItIs) {
  const RunStore store = RunStore::open(file_, OpenMode::kReadWrite);
  EXPECT_EQ(query(file_, "PRAGMA application_id"), kApplicationId);
  EXPECT_EQ(query(file_, "PRAGMA user_version"), builtin_migrations().back().version);
  const Database database(file_, Access::kExisting);
  Statement mode = database.prepare("PRAGMA journal_mode");
  ASSERT_TRUE(mode.step());
  std::string text;
  mode.read(text);
  EXPECT_EQ(text, "wal");
}

TEST_F(OpenStore, ClosingAndReadingLeaveOneFile) {
  RunStore::open(file_, OpenMode::kReadWrite).create_run(test::plain_run("x"));
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(RunStore::open(file_, OpenMode::kReadOnly).runs().size(), 1u);
  EXPECT_EQ(files(), 1);
}

TEST_F(OpenStore, ReaderSeesWhatAWriterCommitsMeanwhile) {
  RunStore writer = RunStore::open(file_, OpenMode::kReadWrite);
  const RunStore reader = RunStore::open(file_, OpenMode::kReadOnly);
  writer.create_run(test::plain_run("x"));
  EXPECT_EQ(reader.runs().size(), 1u);
}

TEST_F(OpenStore, ReaderCannotWrite) {
  RunStore::open(file_, OpenMode::kReadWrite).create_run(test::plain_run("x"));
  RunStore reader = RunStore::open(file_, OpenMode::kReadOnly);
  EXPECT_ERROR(ErrorCode::kEnvironment, file_.string(), reader.create_run(test::plain_run("y")));
  EXPECT_EQ(reader.runs().size(), 1u);
}

TEST_F(OpenStore, WhatIsNoStoreIsRefusedAndLeftAlone) {
  const fs::path text = directory_ / "text.db", other = directory_ / "other.db",
                 tiny = directory_ / "tiny.db";
  std::ofstream(text) << std::string(5000, 'x');
  std::ofstream(tiny) << "hello";
  Database(other, Access::kCreate)
      .execute("CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('x')");
  for (const OpenMode mode : {OpenMode::kReadOnly, OpenMode::kReadWrite}) {
    EXPECT_ERROR(ErrorCode::kBadInput, "not an SQLite database", RunStore::open(text, mode));
    EXPECT_ERROR(ErrorCode::kBadInput, "not an SQLite database", RunStore::open(tiny, mode));
    const std::string before = content(other);
    EXPECT_ERROR(ErrorCode::kBadInput, "of another program", RunStore::open(other, mode));
    EXPECT_EQ(content(other), before);
    EXPECT_ERROR(ErrorCode::kBadInput, "is a directory", RunStore::open(directory_.path(), mode));
  }
  EXPECT_EQ(content(tiny), "hello");
  EXPECT_EQ(files(), 3);
}

TEST_F(OpenStore, WhatLiesAtThePlaceOfAFileOfSqliteIsNamed) {
  RunStore::open(file_, OpenMode::kReadWrite).create_run(test::plain_run("x"));
  const fs::path shared_memory = file_.string() + "-shm";
  const std::string named = shared_memory.string() + ", which is no regular file";
  const auto write = [&] { RunStore::open(file_, OpenMode::kReadWrite).create_run(test::plain_run("y")); };
  fs::create_directory(shared_memory);
  EXPECT_ERROR(ErrorCode::kEnvironment, named, write());
  fs::remove(shared_memory);
  ASSERT_EQ(::mkfifo(shared_memory.c_str(), 0600), 0);
  EXPECT_ERROR(ErrorCode::kEnvironment, named, write());
  fs::remove(shared_memory);
  const fs::path journal = file_.string() + "-journal";
  ASSERT_EQ(::mkfifo(journal.c_str(), 0600), 0);
  EXPECT_ERROR(ErrorCode::kBadInput, journal.string() + ", which is no regular file", write());  // and nobody waits for its other end
  fs::remove(journal);
  EXPECT_EQ(RunStore::open(file_, OpenMode::kReadOnly).runs().size(), 1u);
}

TEST_F(OpenStore, EmptyFileBecomesAStoreWhenWrittenTo) {
  std::ofstream{file_};
  EXPECT_ERROR(ErrorCode::kBadInput, "is empty", RunStore::open(file_, OpenMode::kReadOnly));
  RunStore::open(file_, OpenMode::kReadWrite).create_run(test::plain_run("x"));
  EXPECT_EQ(RunStore::open(file_, OpenMode::kReadOnly).runs().size(), 1u);
}

TEST_F(OpenStore, NewerStoreIsRefusedWithBothVersions) {
  RunStore::open(file_, OpenMode::kReadWrite);
  Database(file_, Access::kExisting).execute("PRAGMA user_version = 99");
  const std::string known = std::to_string(builtin_migrations().back().version);
  for (const OpenMode mode : {OpenMode::kReadOnly, OpenMode::kReadWrite}) {
    EXPECT_ERROR(ErrorCode::kBadInput, "schema version 99, but this ddbench knows versions up to " + known,
                 RunStore::open(file_, mode));
    EXPECT_ERROR(ErrorCode::kBadInput, "upgrade ddbench", RunStore::open(file_, mode));
  }
}

TEST_F(OpenStore, DamagedStoreIsReportedAsSuch) {
  {
    RunStore store = RunStore::open(file_, OpenMode::kReadWrite);
    for (int run = 0; run < 50; ++run) store.create_run(test::full_run("run" + std::to_string(run)));
  }
  std::fstream file(file_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4096);
  const std::string garbage(static_cast<std::size_t>(fs::file_size(file_)) - 4096, '\xA5');
  file.write(garbage.data(), static_cast<std::streamsize>(garbage.size()));
  file.close();
  EXPECT_ERROR(ErrorCode::kRunFailed, file_.string() + " is damaged",
               RunStore::open(file_, OpenMode::kReadOnly).runs());
}

// Runs `action` as the user nobody; 0 when it returned true.
template <typename Action>
int status_as_nobody(Action&& action) {
  const pid_t child = fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (setresgid(kNobody, kNobody, kNobody) != 0 || setresuid(kNobody, kNobody, kNobody) != 0) _exit(2);
    try {
      _exit(action() ? 0 : 1);
    } catch (const std::exception& error) {
      fprintf(stderr, "as nobody: %s\n", error.what());
      _exit(3);
    }
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST_F(OpenStore, StoreOfAnotherUserIsReadAndNotWritten) {
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can become another user";
  fs::permissions(directory_.path(), fs::perms(0755));
  RunStore::open(file_, OpenMode::kReadWrite).create_run(test::plain_run("x"));
  fs::permissions(file_, fs::perms(0644));
  const auto reads = [&](std::size_t runs) {
    return status_as_nobody([&] { return RunStore::open(file_, OpenMode::kReadOnly).runs().size() == runs; });
  };
  EXPECT_EQ(reads(1), 0) << "closed by its owner";
  EXPECT_EQ(status_as_nobody([&] {
              EXPECT_ERROR(ErrorCode::kEnvironment, "read-only", RunStore::open(file_, OpenMode::kReadWrite));
              return !testing::Test::HasFailure();
            }),
            0);
  RunStore writer = RunStore::open(file_, OpenMode::kReadWrite);
  writer.create_run(test::plain_run("y"));
  EXPECT_EQ(reads(2), 0) << "while its owner has it open";
}

TEST_F(OpenStore, AStoreInAClosedDirectoryIsNotCalledMissing) {
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can become another user";
  RunStore::open(file_, OpenMode::kReadWrite);
  fs::permissions(directory_.path(), fs::perms(0700));
  EXPECT_EQ(status_as_nobody([&] {
              EXPECT_ERROR(ErrorCode::kEnvironment, file_.string() + " cannot be reached: its directory is closed to this user",
                           RunStore::open(file_, OpenMode::kReadOnly));
              EXPECT_ERROR(ErrorCode::kEnvironment, file_.string() + " or its directory is closed to this user",
                           RunStore::open(file_, OpenMode::kReadWrite));
              return !testing::Test::HasFailure();
            }),
            0);
}

TEST_F(OpenStore, DefaultPathFollowsTheEnvironment) {
  setenv("DDBENCH_DB", "/x/y.db", 1);
  EXPECT_EQ(default_path(), "/x/y.db");
  unsetenv("DDBENCH_DB");
  setenv("XDG_DATA_HOME", "/data", 1);
  EXPECT_EQ(default_path(), "/data/ddbench/results.db");
  setenv("XDG_DATA_HOME", "relative", 1);
  setenv("HOME", "/home/ada", 1);
  EXPECT_EQ(default_path(), "/home/ada/.local/share/ddbench/results.db");
  unsetenv("XDG_DATA_HOME");
  EXPECT_EQ(default_path(), "/home/ada/.local/share/ddbench/results.db");
}

TEST_F(OpenStore, AJournalThatNamesAnotherFileDoesNotDeleteIt) {
  RunStore::open(file_, OpenMode::kReadWrite).create_run(test::plain_run("a"));
  const fs::path victim = directory_ / "thesis";
  std::ofstream(victim) << "text";
  {
    // A hot journal without pages, and the record of a super-journal: page, name, length, sum of the name's bytes, magic.
    std::string journal(512, '\0');
    const std::string magic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
    journal.replace(0, magic.size(), magic);
    journal[22] = 2;     // sectors of 512 bytes
    journal[26] = 0x10;  // pages of 4096
    const auto number = [&](std::uint32_t value) {
      for (int shift = 24; shift >= 0; shift -= 8) journal += static_cast<char>(value >> shift);
    };
    std::uint32_t sum = 0;
    for (const char c : victim.string()) sum += static_cast<std::uint32_t>(c);
    number(262145);
    journal += victim.string();
    number(static_cast<std::uint32_t>(victim.string().size()));
    number(sum);
    std::ofstream(file_.string() + "-journal", std::ios::binary) << journal + magic;
  }
  for (const OpenMode mode : {OpenMode::kReadOnly, OpenMode::kReadWrite})
    EXPECT_ERROR(ErrorCode::kBadInput, "is a journal of several databases", RunStore::open(file_, mode).runs());
  EXPECT_TRUE(fs::exists(victim));
}

}  // namespace
}  // namespace ddbench::store
