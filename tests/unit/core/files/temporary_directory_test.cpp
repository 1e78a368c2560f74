#include "core/files/temporary_directory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "expect_error.h"
#include "temporary_directory.h"

namespace ddbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kId = "20261121T001905-3f9a1c2b";

class TemporaryDirectoryTest : public ::testing::Test {
 protected:
  fs::path root() const { return base_ / "ddbench-7"; }
  /// As remove_abandoned's caller finds it.
  void make_root() const { OwnedDirectory::make(root()); }
  fs::path make_leftover(const std::string& name, const std::string& marker) const {
    make_root();
    fs::create_directories(root() / name / "deep");
    std::ofstream(root() / name / "deep" / "rank0.spool") << "spans";
    if (!marker.empty()) std::ofstream(root() / name / kDirectoryMarker) << marker;
    return root() / name;
  }

  test::TemporaryDirectory base_;
};

TEST_F(TemporaryDirectoryTest, IsPrivateAndGoesAwayWithItsRoot) {
  {
    const TemporaryDirectory directory(root(), kId);
    EXPECT_EQ(directory.path(), root() / kId);
    for (const fs::path& path : {root(), directory.path()}) {
      struct stat info {};
      ASSERT_EQ(::stat(path.c_str(), &info), 0);
      EXPECT_EQ(info.st_mode & 0777, 0700u) << path;
    }
    std::ofstream(directory.path() / "rank0.spool") << "spans";
  }
  EXPECT_TRUE(fs::is_empty(base_.path()));
}

TEST_F(TemporaryDirectoryTest, WhatLivesIsNotAbandoned) {
  const TemporaryDirectory directory(root(), kId);
  EXPECT_TRUE(remove_abandoned(root()).empty());
  EXPECT_FALSE(TemporaryDirectory::adopt(root(), kId));
  EXPECT_TRUE(fs::exists(directory.path()));
}

/// The process dies with the directory, as by SIGKILL.
void make_and_die(const fs::path& root) {
  const pid_t child = ::fork();
  if (child == 0) {
    const TemporaryDirectory directory(root, kId);
    std::ofstream(directory.path() / "rank0.spool") << "spans" << std::flush;
    ::raise(SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST_F(TemporaryDirectoryTest, WhatAKilledProcessLeftIsRemoved) {
  make_and_die(root());
  EXPECT_TRUE(remove_abandoned(root(), "import-").empty());
  EXPECT_EQ(remove_abandoned(root()), std::vector<fs::path>{root() / kId});
  EXPECT_TRUE(fs::is_empty(base_.path()));
}

TEST_F(TemporaryDirectoryTest, WhatAKilledProcessLeftCanBeTakenOver) {
  make_and_die(root());
  auto adopted = TemporaryDirectory::adopt(root(), kId);
  ASSERT_TRUE(adopted);
  EXPECT_TRUE(fs::exists(adopted->path() / "rank0.spool"));
  EXPECT_FALSE(TemporaryDirectory::adopt(root(), kId)) << "adopted by two";
  adopted.reset();
  EXPECT_TRUE(fs::is_empty(base_.path()));
}

// Even if the directory has ddbench's name: only the marker that ddbench writes proves that it made a
// directory.
TEST_F(TemporaryDirectoryTest, FoldersWithoutTheMarkerAreUntouched) {
  const std::string ours = directory_marker_text("temporary", kId);
  make_leftover("ddbench-results", "");
  make_leftover("results", "mine\n");
  make_leftover("copied", ours);  // of another directory
  make_leftover("checkpoints", directory_marker_text("checkpoints", "checkpoints"));
  make_leftover("longer", directory_marker_text("temporary", "longer") + "more");
  make_leftover(".new-mine", "mine\n");
  EXPECT_TRUE(remove_abandoned(root()).empty());
  for (const char* name : {"ddbench-results", "results", "copied", "checkpoints", "longer", ".new-mine"})
    EXPECT_TRUE(fs::exists(root() / name / "deep" / "rank0.spool")) << name;
}

TEST_F(TemporaryDirectoryTest, WhatAKilledRemovalLeftIsRemoved) {
  make_root();
  fs::create_directory(root() / kId);  // its content is removed first, then its marker
  EXPECT_EQ(remove_abandoned(root()).size(), 1u);
  EXPECT_TRUE(fs::is_empty(base_.path()));
}

TEST_F(TemporaryDirectoryTest, WhatAKilledCreationLeftIsRemoved) {
  make_root();
  const std::string text = directory_marker_text("temporary", kId);
  for (const std::size_t written : {std::size_t{0}, std::size_t{3}, text.size() - 4, text.size()}) {
    const fs::path path = root() / ".new-0badcafe";
    fs::create_directory(path);
    std::ofstream(path / kDirectoryMarker) << text.substr(0, written);
    EXPECT_EQ(remove_abandoned(root()), std::vector<fs::path>{path}) << written;
    make_root();
  }
  fs::create_directory(root() / ".new-0badcafe");
  EXPECT_EQ(remove_abandoned(root()).size(), 1u);
}

TEST_F(TemporaryDirectoryTest, LinksAndFilesAreUntouched) {
  const test::TemporaryDirectory elsewhere;
  make_root();
  std::ofstream(elsewhere.path() / "precious");
  std::ofstream(elsewhere.path() / kDirectoryMarker) << directory_marker_text("temporary", "link");
  fs::create_directory_symlink(elsewhere.path(), root() / "link");
  std::ofstream(root() / "file");
  fs::create_directory(root() / "linked");
  fs::create_symlink(elsewhere.path() / kDirectoryMarker, root() / "linked" / kDirectoryMarker);
  EXPECT_TRUE(remove_abandoned(root()).empty());
  EXPECT_FALSE(TemporaryDirectory::adopt(root(), "linked"));
  EXPECT_TRUE(fs::exists(elsewhere.path() / "precious"));
  EXPECT_TRUE(fs::exists(root() / "linked"));
  EXPECT_TRUE(remove_abandoned(base_.path() / "missing").empty());
}

TEST_F(TemporaryDirectoryTest, NamesThatLeadElsewhereAreRefused) {
  for (const char* name : {"", ".", "..", "../x", "a/b", ".hidden", "a b", "a\nb"}) {
    EXPECT_ERROR(ErrorCode::kEnvironment, "cannot be the name", TemporaryDirectory(root(), name));
    EXPECT_FALSE(TemporaryDirectory::adopt(root(), name)) << name;
  }
}

TEST_F(TemporaryDirectoryTest, AnIdThatIsTakenIsAnErrorThatLeavesNothing) {
  const TemporaryDirectory first(root(), kId);
  EXPECT_ERROR(ErrorCode::kEnvironment, kId, TemporaryDirectory(root(), kId));
  EXPECT_EQ(std::distance(fs::directory_iterator(root()), fs::directory_iterator()), 1);
}

TEST_F(TemporaryDirectoryTest, ARootThatIsNotOursIsNamed) {
  const auto refused = [&](const char* why) {
    EXPECT_ERROR(ErrorCode::kEnvironment, why, TemporaryDirectory(root(), kId));
    EXPECT_ERROR(ErrorCode::kEnvironment, root().string(), remove_abandoned(root()));
    EXPECT_ERROR(ErrorCode::kEnvironment, "DDBENCH_TMPDIR", TemporaryDirectory::adopt(root(), kId));
  };
  const test::TemporaryDirectory elsewhere;
  fs::create_directory_symlink(elsewhere.path(), root());
  refused("symbolic link");
  fs::remove(root());
  std::ofstream(root()) << "file";
  refused("no directory");
  fs::remove(root());
  make_root();
  ASSERT_EQ(::chmod(root().c_str(), 0770), 0);
  refused("0770");
  ASSERT_EQ(::chmod(root().c_str(), 0700), 0);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(root().c_str(), 65534, 65534), 0);
    refused("another user (uid 65534)");
  }
  EXPECT_TRUE(fs::is_empty(elsewhere.path()));
}

// A directory being created has no lock for a moment, and the root is removed with the last one.
TEST_F(TemporaryDirectoryTest, MakingAndCleaningAtOnceLosesNothing) {
  std::vector<std::thread> makers;
  for (int maker = 0; maker < 4; ++maker) {
    makers.emplace_back([&, maker] {
      for (int round = 0; round < 100; ++round) {
        const TemporaryDirectory directory(root(), "r" + std::to_string(maker * 1000 + round));
        std::ofstream(directory.path() / "file") << "x";
        remove_abandoned(root());
        EXPECT_TRUE(fs::exists(directory.path() / "file"));
      }
    });
  }
  for (std::thread& maker : makers) maker.join();
  EXPECT_TRUE(fs::is_empty(base_.path()));
}

TEST_F(TemporaryDirectoryTest, WhatIsKeptIsThereForWhoeverAdoptsIt) {
  {
    TemporaryDirectory directory(root(), kId);
    std::ofstream(directory.path() / "rank0.spool") << "spans";
    directory.keep();
  }
  EXPECT_TRUE(fs::exists(root() / kId / "rank0.spool"));
  {
    auto adopted = TemporaryDirectory::adopt(root(), kId);
    ASSERT_TRUE(adopted);
    EXPECT_FALSE(TemporaryDirectory::adopt(root(), kId)) << "one at a time";
    adopted->keep();
  }
  EXPECT_TRUE(TemporaryDirectory::adopt(root(), kId)) << "and goes with the one who does not keep it";
  EXPECT_TRUE(fs::is_empty(base_.path()));
}

TEST_F(TemporaryDirectoryTest, WhatIsNeededIsNotRemoved) {
  for (const char* name : {"needed", "not-needed"}) TemporaryDirectory(root(), name).keep();
  const auto is_needed = [](const fs::path& directory) { return directory.filename() == "needed"; };
  EXPECT_EQ(remove_abandoned(root(), "", is_needed), std::vector<fs::path>{root() / "not-needed"});
  EXPECT_TRUE(fs::exists(root() / "needed"));
  EXPECT_EQ(remove_abandoned(root()).size(), 1u);
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

TEST_F(TemporaryDirectoryTest, TheRootLiesWhereTheUserSays) {
  const Environment ours("DDBENCH_TMPDIR", base_.path().string());
  EXPECT_EQ(temporary_root(), base_.path() / ("ddbench-" + std::to_string(::geteuid())));
  EXPECT_TRUE(fs::is_empty(base_.path()));
}

TEST_F(TemporaryDirectoryTest, ABaseThatCannotBeUsedIsNamed) {
  const Environment ours("DDBENCH_TMPDIR", "/nonexistent/place");
  EXPECT_ERROR(ErrorCode::kEnvironment, "$DDBENCH_TMPDIR is /nonexistent/place", temporary_root());
}

}  // namespace
}  // namespace ddbench
