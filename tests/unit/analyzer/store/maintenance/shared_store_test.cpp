#include "analyzer/store/maintenance/shared_store.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/sqlite/migration.h"
#include "analyzer/store/sqlite/open_store.h"
#include "expect_error.h"
#include "sample_records.h"
#include "temporary_directory.h"

namespace ddbench::store {
namespace {

namespace fs = std::filesystem;

constexpr gid_t kGroup = 64100;
constexpr uid_t kAda = 64101;
constexpr uid_t kBob = 64102;

mode_t mode_of(const fs::path& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

gid_t gid_of(const fs::path& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_gid : 0;
}

class SharedStore : public testing::Test {
 protected:
  SharedStore() : umask_(::umask(0077)) {}
  ~SharedStore() override { ::umask(umask_); }

  mode_t umask_;
  test::TemporaryDirectory directory_;
  fs::path file_ = directory_ / "team" / "stores" / "results.db";
};

/// As a user of kGroup, by number: 0 when `action` returned true. Groups of their own, so that only the
/// directory hands kGroup on.
int status_as(uid_t user, gid_t group, const std::function<bool()>& action) {
  const pid_t child = fork();
  if (child == 0) {
    const gid_t others[] = {kGroup};
    if (setgroups(group == user ? 1 : 0, others) != 0 || setresgid(group, group, group) != 0 ||
        setresuid(user, user, user) != 0)
      _exit(2);
    try {
      _exit(action() ? 0 : 1);
    } catch (const std::exception& error) {
      fprintf(stderr, "as %u: %s\n", user, error.what());
      _exit(3);
    }
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST_F(SharedStore, IsOfItsGroupWhateverTheUmask) {
  create_shared_store(file_, "");
  EXPECT_TRUE(is_shared(file_));
  EXPECT_EQ(mode_of(file_), 0660u);
  EXPECT_EQ(mode_of(file_.parent_path()), 02770u);
  EXPECT_EQ(mode_of(file_.parent_path().parent_path()), 02770u);
  RunStore store = RunStore::open(file_, OpenMode::kReadWrite);
  store.create_run(test::plain_run("a"));
  for (const char* end : {"-wal", "-shm"}) EXPECT_EQ(mode_of(file_.string() + end), 0660u) << end;
  EXPECT_FALSE(group_of(file_).empty());
}

TEST_F(SharedStore, OtherStoresArePrivate) {
  RunStore::open(file_, OpenMode::kReadWrite);
  EXPECT_FALSE(is_shared(file_));
  EXPECT_FALSE(is_shared(directory_ / "nowhere"));
  EXPECT_EQ(mode_of(file_), 0600u);
  make_folder_beside(file_, directory_ / "folder");
  EXPECT_EQ(mode_of(directory_ / "folder"), 0700u);
}

TEST_F(SharedStore, AFolderThatAKilledProcessLeftPrivateIsMadeUsableByAll) {
  create_shared_store(file_, "");
  const fs::path folder = directory_ / "folder";
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  make_in_folder_beside(file_, folder / "run", "test");
  EXPECT_EQ(mode_of(folder), 03770u);
  EXPECT_EQ(mode_of(folder / "run") & 0777u, 0700u);
}

TEST_F(SharedStore, AFolderThatAMemberLinkedElsewhereIsRefused) {
  create_shared_store(file_, "");
  fs::create_directory_symlink(directory_.path(), directory_ / "link");
  EXPECT_ERROR(ErrorCode::kEnvironment, "this is a symbolic link",
               make_folder_beside(file_, directory_ / "link"));
}

TEST_F(SharedStore, ALogThatAMemberLinkedElsewhereIsNotFollowed) {
  create_shared_store(file_, "");
  fs::create_symlink(directory_ / "victim", file_.string() + "-wal");
  EXPECT_ERROR(ErrorCode::kEnvironment, "",
               RunStore::open(file_, OpenMode::kReadWrite).create_run(test::plain_run("a")));
  EXPECT_FALSE(fs::exists(directory_ / "victim"));
}

TEST_F(SharedStore, IsNotMadeWhereOthersCouldNotUseIt) {
  fs::create_directories(file_.parent_path());
  EXPECT_ERROR(ErrorCode::kEnvironment, "chmod u+rwx,g+rwxs " + file_.parent_path().string(),
               create_shared_store(file_, ""));
  EXPECT_FALSE(fs::exists(file_));
  ASSERT_EQ(::chmod(file_.parent_path().c_str(), 02770), 0);
  create_shared_store(file_, "");
  EXPECT_ERROR(ErrorCode::kBadInput, "is there already; its group " + group_of(file_) + " may write it already", create_shared_store(file_, ""));
  ASSERT_EQ(::chmod(file_.c_str(), 0600), 0);
  EXPECT_ERROR(ErrorCode::kBadInput, "is there already; `chmod g+rw " + file_.string() + "`", create_shared_store(file_, ""));
  EXPECT_ERROR(ErrorCode::kBadInput, "there is no group \"no such\"",
               create_shared_store(directory_ / "b.db", "no such"));
}

TEST_F(SharedStore, BackUpOfAMigrationIsShared) {
  const std::span<const Migration> all = builtin_migrations();
  create_shared_store(file_, "");
  fs::remove(file_);
  open_store(file_, OpenMode::kReadWrite, all.first(all.size() - 1));
  ASSERT_EQ(::chmod(file_.c_str(), 0660), 0);
  RunStore::open(file_, OpenMode::kReadWrite);
  EXPECT_EQ(mode_of(file_.string() + ".v" + std::to_string(all[all.size() - 2].version) + ".bak"), 0660u);
}

TEST_F(SharedStore, UsersOfItsGroupWriteItAndOthersDoNot) {
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can become other users";
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  create_shared_store(file_, std::to_string(kGroup));
  EXPECT_EQ(gid_of(file_), kGroup);
  const auto adds = [&](const char* id) {
    return [&, id] {
      RunStore store = RunStore::open(file_, OpenMode::kReadWrite);
      store.create_run(test::plain_run(id));
      return gid_of(file_.string() + "-wal") == kGroup && mode_of(file_.string() + "-shm") == 0660;
    };
  };
  EXPECT_EQ(status_as(kAda, kAda, adds("a")), 0);
  EXPECT_EQ(status_as(kBob, kBob, adds("b")), 0);
  EXPECT_EQ(
      status_as(kAda, kAda, [&] { return RunStore::open(file_, OpenMode::kReadOnly).runs().size() == 2; }),
      0);
  const int of_others = status_as(kBob, kBob + 1, [&] {
    EXPECT_ERROR(ErrorCode::kEnvironment, "", RunStore::open(file_, OpenMode::kReadWrite));
    return !HasFailure();
  });
  EXPECT_EQ(of_others, 0) << "of another group";
}

TEST_F(SharedStore, UsersRemoveOnlyTheirOwnFoldersBesideIt) {
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can become other users";
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  create_shared_store(file_, std::to_string(kGroup));
  const fs::path logs = file_.string() + ".logs";
  const auto makes_own = [&](const char* name) {
    return [&, name] {
      make_folder_beside(file_, logs);
      return ::mkdir((logs / name).c_str(), 0700) == 0;
    };
  };
  EXPECT_EQ(status_as(kAda, kAda, makes_own("a")), 0);
  EXPECT_EQ(mode_of(logs), 03770u);
  EXPECT_EQ(status_as(kBob, kBob, makes_own("b")), 0);
  EXPECT_EQ(
      status_as(kBob, kBob,
                [&] { return ::rmdir((logs / "a").c_str()) != 0 && ::rmdir((logs / "b").c_str()) == 0; }),
      0);
}

}  // namespace
}  // namespace ddbench::store
