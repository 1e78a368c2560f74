#include "core/files/owned_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "expect_error.h"
#include "temporary_directory.h"

namespace ddbench {
namespace {

namespace fs = std::filesystem;

class OwnedDirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(path()); }
  fs::path path() const { return root_ / "ours"; }
  OwnedDirectory root() const { return *OwnedDirectory::open(root_.path()); }
  bool remove(const IsOurs& is_ours = {}) const { return root().open_child("ours")->remove(is_ours); }
  static void write(const fs::path& file) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "content";
  }

  test::TemporaryDirectory root_;
  test::TemporaryDirectory elsewhere_;
};

TEST_F(OwnedDirectoryTest, IsPrivateWhenMade) {
  const OwnedDirectory made = OwnedDirectory::make(root_ / "made");
  EXPECT_EQ(made.mode(), 0700u);
  EXPECT_NO_THROW(OwnedDirectory::make(root_ / "made"));
}

TEST_F(OwnedDirectoryTest, AMissingOneIsNothing) {
  EXPECT_FALSE(OwnedDirectory::open(root_ / "missing"));
  EXPECT_FALSE(root().open_child("missing"));
}

TEST_F(OwnedDirectoryTest, WhatIsNoDirectoryOfThisUserIsNamed) {
  fs::create_directory_symlink(elsewhere_.path(), root_ / "link");
  write(root_ / "file");
  EXPECT_ERROR(ErrorCode::kEnvironment, "link: this is a symbolic link",
               OwnedDirectory::open(root_ / "link"));
  EXPECT_ERROR(ErrorCode::kEnvironment, "file: this is no directory", OwnedDirectory::make(root_ / "file"));
  for (const char* name : {"..", ".", "", "../ours", "/etc"})
    EXPECT_ERROR(ErrorCode::kEnvironment, "is not the name of an entry", root().open_child(name));
  if (::geteuid() != 0) return;  // only root can make a directory of another user
  ASSERT_EQ(::chown(path().c_str(), 65534, 65534), 0);
  EXPECT_ERROR(ErrorCode::kEnvironment, "another user (uid 65534)", OwnedDirectory::open(path()));
}

TEST_F(OwnedDirectoryTest, TheMarkerHoldsForItsWordsOnly) {
  const OwnedDirectory directory = *OwnedDirectory::open(path());
  EXPECT_FALSE(directory.is_marked("temporary", "a"));
  directory.mark("temporary", "a");
  EXPECT_TRUE(directory.is_marked("temporary", "a"));
  EXPECT_FALSE(directory.is_marked("temporary", "b"));
  EXPECT_FALSE(directory.is_marked("checkpoints", "a"));
  EXPECT_ERROR(ErrorCode::kEnvironment, "marker", directory.mark("temporary", "a"));
  std::ofstream(path() / kDirectoryMarker, std::ios::app) << "more";
  EXPECT_FALSE(directory.is_marked("temporary", "a"));
}

TEST_F(OwnedDirectoryTest, ALinkIsNoMarker) {
  std::ofstream(elsewhere_ / "marker") << directory_marker_text("temporary", "a");
  fs::create_symlink(elsewhere_ / "marker", path() / kDirectoryMarker);
  const OwnedDirectory directory = *OwnedDirectory::open(path());
  EXPECT_FALSE(directory.is_marked("temporary", "a"));
  EXPECT_ERROR(ErrorCode::kEnvironment, "marker", directory.mark("temporary", "a"));
}

TEST_F(OwnedDirectoryTest, RemovesATreeAndFollowsNoLinks) {
  OwnedDirectory::open(path())->mark("temporary", "ours");
  write(path() / "deep" / "deeper" / "file");
  write(elsewhere_ / "precious");
  fs::create_directory_symlink(elsewhere_.path(), path() / "link");
  fs::create_symlink(elsewhere_ / "precious", path() / "deep" / "link");
  fs::create_hard_link(elsewhere_ / "precious", path() / "hard");
  EXPECT_TRUE(remove());
  EXPECT_FALSE(fs::exists(path()));
  EXPECT_TRUE(fs::exists(elsewhere_ / "precious"));
}

TEST_F(OwnedDirectoryTest, WhatIsNotOursStaysWithItsMarker) {
  OwnedDirectory::open(path())->mark("checkpoints", "ours");
  write(path() / "step-1" / "state");
  write(path() / "step-2" / "notes.txt");
  const IsOurs is_ours = [](const std::string& name) {
    return name == "step-1/" || name == "step-2/" || name == "step-3/" || name.ends_with("/state");
  };
  EXPECT_EQ(OwnedDirectory::open(path())->first_foreign(is_ours), "step-2/notes.txt");
  fs::create_directories(path() / "step-3" / "empty");
  EXPECT_FALSE(remove(is_ours));
  EXPECT_FALSE(fs::exists(path() / "step-1"));
  EXPECT_TRUE(fs::exists(path() / "step-3" / "empty")) << "an empty directory of others";
  EXPECT_TRUE(fs::exists(path() / "step-2" / "notes.txt"));
  EXPECT_TRUE(fs::exists(path() / kDirectoryMarker));
}

TEST_F(OwnedDirectoryTest, AnotherDirectoryOfTheNameIsLeftAlone) {
  const OwnedDirectory opened = *root().open_child("ours");
  write(path() / "file");
  fs::rename(path(), root_ / "moved");
  write(path() / "precious");
  EXPECT_TRUE(opened.remove());
  EXPECT_TRUE(fs::exists(path() / "precious"));
  EXPECT_TRUE(fs::is_empty(root_ / "moved"));
}

TEST_F(OwnedDirectoryTest, ALinkInThePlaceOfADirectoryIsNotEntered) {
  const OwnedDirectory opened = *root().open_child("ours");
  fs::rename(path(), root_ / "moved");
  write(elsewhere_ / "precious");
  fs::create_directory_symlink(elsewhere_.path(), path());
  opened.remove();
  EXPECT_TRUE(fs::exists(elsewhere_ / "precious"));
  EXPECT_TRUE(fs::is_symlink(path()));
}

TEST_F(OwnedDirectoryTest, NestingIsBounded) {
  fs::path deep = path();
  for (int level = 0; level < 64; ++level) deep /= "d";
  fs::create_directories(deep);
  EXPECT_ERROR(ErrorCode::kEnvironment, "nested too deeply", remove());
}

TEST_F(OwnedDirectoryTest, OnlyAnEmptyDirectoryIsRemovedAsEmpty) {
  write(path() / "file");
  const OwnedDirectory directory = *OwnedDirectory::open(path());
  directory.remove_if_empty();
  EXPECT_TRUE(fs::exists(path() / "file"));
  fs::remove(path() / "file");
  directory.remove_if_empty();
  EXPECT_FALSE(fs::exists(path()));
}

TEST_F(OwnedDirectoryTest, OnlyANewDirectoryIsMarked) {
  EXPECT_FALSE(OwnedDirectory::make_marked(path(), "output").is_marked("output", "ours"));
  EXPECT_TRUE(OwnedDirectory::make_marked(root_ / "new", "output").is_marked("output", "new"));
  EXPECT_TRUE(OwnedDirectory::make_marked(root_ / "new", "output").is_marked("output", "new"));
}

TEST_F(OwnedDirectoryTest, WhatAKilledProcessBeganIsKnownByTheBeginningOfItsMarker) {
  const OwnedDirectory directory = *OwnedDirectory::open(path());
  const auto is_unfinished = [&] { return directory.is_unfinished("output", "ours"); };
  EXPECT_TRUE(is_unfinished());
  const std::string marker = directory_marker_text("output", "ours");
  for (const std::size_t bytes : {std::size_t{0}, marker.size() / 2, marker.size()}) {
    std::ofstream(path() / kDirectoryMarker) << marker.substr(0, bytes);
    EXPECT_TRUE(is_unfinished()) << bytes;
  }
  EXPECT_FALSE(directory.is_unfinished("checkpoints", "ours"));
  write(path() / "file");
  EXPECT_FALSE(is_unfinished());
  fs::remove(path() / "file");
  std::ofstream(path() / kDirectoryMarker) << "of somebody else";
  EXPECT_FALSE(is_unfinished());
}

TEST_F(OwnedDirectoryTest, GetsAnotherNameOnlyWhereNothingHasIt) {
  OwnedDirectory directory = OwnedDirectory::make(root_ / "a");
  fs::create_directory(root_ / "taken");
  EXPECT_FALSE(directory.rename("taken"));
  EXPECT_FALSE(directory.rename("../outside"));
  EXPECT_TRUE(directory.rename("b"));
  EXPECT_EQ(directory.path(), root_ / "b");
  fs::rename(root_ / "b", root_ / "moved");
  fs::create_directory(root_ / "b");
  EXPECT_FALSE(directory.rename("c")) << "another directory has its name";
  EXPECT_TRUE(fs::exists(root_ / "b"));
}

TEST_F(OwnedDirectoryTest, AParentThatIsALinkIsNotEntered) {
  OwnedDirectory::make(root_ / "a");
  OwnedDirectory::make(root_ / "a/b");
  fs::create_directory_symlink(root_ / "a", root_ / "link");
  EXPECT_TRUE(OwnedDirectory::open_in(root_ / "a", "b"));
  EXPECT_FALSE(OwnedDirectory::open_in(root_ / "nowhere", "b"));
  EXPECT_ERROR(ErrorCode::kEnvironment, "symbolic link", OwnedDirectory::open_in(root_ / "link", "b"));
}

}  // namespace
}  // namespace ddbench
