#include "ddbench/launch/run_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "expect_error.h"
#include "temporary_directory.h"

namespace ddbench::launch {
namespace {

using test::message_of;

namespace fs = std::filesystem;

TEST(RunDirectory, IsPrivateAndGoesAway) {
  const test::TemporaryDirectory root;
  fs::path path;
  {
    const RunDirectory directory(root.path(), "20261121T001905-3f9a1c2b");
    path = directory.path();
    EXPECT_EQ(path.filename(), "ddbench-20261121T001905-3f9a1c2b");
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    std::ofstream(path / "rank0.spool") << "spans";
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::is_empty(root.path()));
}

TEST(RunDirectory, WhatLivesIsNotAbandoned) {
  const test::TemporaryDirectory root;
  const RunDirectory directory(root.path(), "alive");
  EXPECT_TRUE(remove_abandoned(root.path()).empty());
  EXPECT_TRUE(fs::exists(directory.path()));
}

TEST(RunDirectory, WhatAKilledRunLeftIsRemoved) {
  const test::TemporaryDirectory root;
  const fs::path path = root.path() / "ddbench-killed";
  fs::create_directories(path / "deep");
  std::ofstream(path / "owner");
  std::ofstream(path / "deep" / "rank0.spool") << "spans";
  EXPECT_EQ(remove_abandoned(root.path()), std::vector<fs::path>{path});
  EXPECT_FALSE(fs::exists(path));
}

TEST(RunDirectory, WhatAKilledRemovalLeftIsRemoved) {
  const test::TemporaryDirectory root;
  fs::create_directories(root.path() / "ddbench-half");
  std::ofstream(root.path() / "ddbench-half" / "rank0.spool");
  EXPECT_EQ(remove_abandoned(root.path()).size(), 1u);
}

TEST(RunDirectory, WhatIsBeingMadeIsLeftAloneUntilItIsOld) {
  const test::TemporaryDirectory root;
  const fs::path path = root.path() / ".ddbench-new.AbCdEf";
  fs::create_directories(path);
  EXPECT_TRUE(remove_abandoned(root.path()).empty());
  const timespec long_ago[2] = {{1'000'000, 0}, {1'000'000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), long_ago, 0), 0);
  EXPECT_EQ(remove_abandoned(root.path()).size(), 1u);
}

TEST(RunDirectory, OtherThingsAreUntouched) {
  const test::TemporaryDirectory root;
  const test::TemporaryDirectory elsewhere;
  std::ofstream(elsewhere.path() / "precious");
  fs::create_directory_symlink(elsewhere.path(), root.path() / "ddbench-link");
  std::ofstream(root.path() / "ddbench-file");
  fs::create_directories(root.path() / "others");
  fs::create_directories(root.path() / "ddbench-linked-owner");
  fs::create_symlink(elsewhere.path() / "precious", root.path() / "ddbench-linked-owner" / "owner");
  EXPECT_TRUE(remove_abandoned(root.path()).empty());
  EXPECT_TRUE(fs::exists(elsewhere.path() / "precious"));
  EXPECT_TRUE(fs::exists(root.path() / "ddbench-linked-owner"));
  EXPECT_TRUE(remove_abandoned(root.path() / "missing").empty());
}

TEST(RunDirectory, OtherUsersAreUntouched) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a directory of another user";
  const test::TemporaryDirectory root;
  const fs::path path = root.path() / "ddbench-foreign";
  fs::create_directories(path);
  std::ofstream(path / "owner");
  ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
  EXPECT_TRUE(remove_abandoned(root.path()).empty());
  EXPECT_TRUE(fs::exists(path / "owner"));
}

TEST(RunDirectory, AnIdThatIsTakenIsAnErrorThatLeavesNothing) {
  const test::TemporaryDirectory root;
  const RunDirectory first(root.path(), "twice");
  const std::string message =
      message_of(ErrorCode::kEnvironment, [&] { RunDirectory(root.path(), "twice"); });
  EXPECT_NE(message.find("ddbench-twice"), std::string::npos) << message;
  EXPECT_EQ(std::distance(fs::directory_iterator(root.path()), fs::directory_iterator()), 1);
}

class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() { old_.empty() ? ::unsetenv(name_) : ::setenv(name_, old_.c_str(), 1); }

 private:
  const char* name_;
  std::string old_;
};

TEST(RunDirectory, TheRootIsWhatTheUserSays) {
  const test::TemporaryDirectory root;
  const Environment ours("DDBENCH_TMPDIR", root.path().string());
  EXPECT_EQ(run_directory_root(), root.path());
}

TEST(RunDirectory, ARootThatCannotBeUsedIsNamed) {
  const Environment ours("DDBENCH_TMPDIR", "/nonexistent/place");
  const std::string message = message_of(ErrorCode::kEnvironment, [] { run_directory_root(); });
  EXPECT_NE(message.find("$DDBENCH_TMPDIR is /nonexistent/place"), std::string::npos) << message;
}

}  // namespace
}  // namespace ddbench::launch
