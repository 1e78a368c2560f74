#include "reports/text/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "core/error.h"
#include "scratch_directory.h"

namespace ddbench::reports {
namespace {

namespace fs = std::filesystem;

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

class OutputFileTest : public testing::Test {
 protected:
  fs::path in(const char* name) const { return scratch_.path() / name; }
  test::ScratchDirectory scratch_;
};

TEST_F(OutputFileTest, AppearsOnlyWhenItIsComplete) {
  OutputFile file(in("report.html"));
  file.write(std::string(200'000, 'x'));
  EXPECT_FALSE(fs::exists(in("report.html")));
  file.commit();
  EXPECT_EQ(fs::file_size(in("report.html")), 200'000u);
  EXPECT_EQ(entries(scratch_.path()), 1u);
}

TEST_F(OutputFileTest, LeavesTheOldFileAndNothingElseWithoutCommit) {
  std::ofstream(in("old")) << "old";
  {
    OutputFile file(in("old"));
    file.write("new");
  }
  EXPECT_EQ(test::content_of(in("old")), "old");
  EXPECT_EQ(entries(scratch_.path()), 1u);
}

TEST_F(OutputFileTest, ReplacesAnOldFileAndFollowsLinks) {
  std::ofstream(in("real")) << "old";
  fs::create_symlink("real", in("link"));
  OutputFile file(in("link"));
  file.write("new");
  file.commit();
  EXPECT_TRUE(fs::is_symlink(in("link")));
  EXPECT_EQ(test::content_of(in("real")), "new");
}

TEST_F(OutputFileTest, HasTheRightsOfAnOrdinaryFile) {
  const mode_t mask = ::umask(0027);
  OutputFile file(in("f"));
  file.commit();
  ::umask(mask);
  EXPECT_EQ(fs::status(in("f")).permissions(), fs::perms(0640));
}

TEST_F(OutputFileTest, WritesToADescriptorWhereItStands) {
  const int fd = ::open(in("log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::write(fd, "before ", 7), 7);
  for (const char* folder : {"/dev/fd/", "/proc/self/fd/"}) write_file(folder + std::to_string(fd), "report ");
  EXPECT_EQ(::write(fd, "after", 5), 5) << "it stays open";
  ::close(fd);
  EXPECT_EQ(test::content_of(in("log")), "before report report after");
  EXPECT_EQ(entries(scratch_.path()), 1u);
}

void expect_refused(const fs::path& path, const char* word) {
  try {
    OutputFile file(path);
    FAIL() << path;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_NE(error.message().find(path.string()), std::string::npos) << error.message();
    EXPECT_NE(error.message().find(word), std::string::npos) << error.message();
  }
}

TEST_F(OutputFileTest, RefusesDirectoriesAndMissingFolders) {
  fs::create_directory(in("folder"));
  expect_refused(in("folder"), "directory");
  expect_refused(in("nosuch") / "file", "no folder");
  EXPECT_EQ(entries(in("folder")), 0u);
  expect_refused("/dev/fd/999999", "descriptor");
}

TEST_F(OutputFileTest, AFullDiskIsAnErrorThatNamesTheFileAndLeavesNothing) {
  // A limit on the file's size fails write() as a full disk does.
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit tight = old;
  tight.rlim_cur = 100'000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  std::string message;
  try {
    OutputFile file(in("big"));
    for (int i = 0; i < 10; ++i) file.write(std::string(60'000, 'x'));
    file.commit();
  } catch (const Error& error) {
    message = error.message();
  }
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_NE(message.find(in("big").string()), std::string::npos) << message;
  EXPECT_EQ(entries(scratch_.path()), 0u);
}

}  // namespace
}  // namespace ddbench::reports
