#include "core/files/planted_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "core/error.h"
#include "expect_error.h"
#include "temporary_directory.h"

namespace ddbench {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kSecondUser = 65534;
constexpr uid_t kThirdUser = 65533;

class PlantedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_symlink("target", link_);
    if (::lchown(link_.c_str(), kSecondUser, kSecondUser) != 0) GTEST_SKIP() << "only root has links of another user";
  }
  void set_folder(mode_t mode, uid_t owner) const {
    ASSERT_EQ(::chmod(scratch_.path().c_str(), mode), 0);
    ASSERT_EQ(::chown(scratch_.path().c_str(), owner, owner), 0);
  }

  test::TemporaryDirectory scratch_;
  fs::path link_ = scratch_.path() / "link";
};

TEST_F(PlantedFileTest, OfAnotherUserInAFolderOfAllUsers) {
  set_folder(01777, 0);
  EXPECT_TRUE(is_planted_file(link_));
  try {
    refuse_planted_file(link_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_NE(error.message().find(link_.string()), std::string::npos) << error.message();
  }
  set_folder(01777, kThirdUser);
  EXPECT_TRUE(is_planted_file(link_));
}

TEST_F(PlantedFileTest, NotInAFolderOfFewerUsersNorIfItsOwnerHasTheFolder) {
  set_folder(0755, 0);
  EXPECT_FALSE(is_planted_file(link_));
  set_folder(0777, 0);
  EXPECT_FALSE(is_planted_file(link_)) << "without the sticky bit links may be replaced anyway: as Linux has it";
  set_folder(01777, kSecondUser);
  EXPECT_FALSE(is_planted_file(link_));
}

TEST_F(PlantedFileTest, AFifoAsALink) {
  const fs::path fifo = scratch_.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0666), 0);
  set_folder(01777, 0);
  EXPECT_FALSE(is_planted_file(fifo)) << "an own one: somebody reads from it";
  ASSERT_EQ(::chown(fifo.c_str(), kSecondUser, kSecondUser), 0);
  EXPECT_ERROR(ErrorCode::kBadInput, "is a FIFO that another user has placed", refuse_planted_file(fifo));
  set_folder(0755, 0);
  EXPECT_FALSE(is_planted_file(fifo));
}

TEST_F(PlantedFileTest, OwnLinksAndWhatIsNoLinkAreNone) {
  set_folder(01777, 0);
  ASSERT_EQ(::lchown(link_.c_str(), ::geteuid(), ::getegid()), 0);
  EXPECT_FALSE(is_planted_file(link_));
  std::ofstream(scratch_.path() / "file") << "x";
  EXPECT_FALSE(is_planted_file(scratch_.path() / "file"));
  EXPECT_FALSE(is_planted_file(scratch_.path() / "nothing"));
  EXPECT_NO_THROW(refuse_planted_file(link_));
}

}  // namespace
}  // namespace ddbench
