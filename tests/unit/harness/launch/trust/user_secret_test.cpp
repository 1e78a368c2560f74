#include "harness/launch/trust/user_secret.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <future>
#include <set>

#include "expect_error.h"
#include "temporary_directory.h"

namespace ddbench::launch {
namespace {

using test::message_of;

class UserSecretTest : public ::testing::Test {
 protected:
  test::TemporaryDirectory home_;
  std::filesystem::path directory_ = home_.path() / "share" / "ddbench";
  std::filesystem::path file_ = directory_ / "launch-secret";
};

TEST_F(UserSecretTest, IsMadeOnceAndPrivate) {
  const mode_t before = ::umask(0);
  const std::string secret = user_secret(directory_);
  ::umask(before);
  EXPECT_EQ(secret.size(), 32u);
  EXPECT_EQ(user_secret(directory_), secret);
  struct stat status {};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1)
      << "and nothing else is left";
}

TEST_F(UserSecretTest, RanksThatComeAtTheSameTimeGetTheSame) {
  std::vector<std::future<std::string>> ranks;
  for (int rank = 0; rank < 16; ++rank) {
    ranks.push_back(std::async(std::launch::async, [this] { return user_secret(directory_); }));
  }
  std::set<std::string> secrets;
  for (auto& rank : ranks) secrets.insert(rank.get());
  EXPECT_EQ(secrets.size(), 1u);
  EXPECT_EQ(secrets.begin()->size(), 32u);
}

TEST_F(UserSecretTest, OneThatOthersMayKnowIsRefused) {
  user_secret(directory_);
  for (const mode_t mode : {0640, 0604, 0620}) {
    ASSERT_EQ(::chmod(file_.c_str(), mode), 0);
    const std::string message = message_of(ErrorCode::kEnvironment, [&] { user_secret(directory_); });
    EXPECT_NE(message.find(file_.string()), std::string::npos) << message;
  }
}

TEST_F(UserSecretTest, ALinkIsNotFollowed) {
  std::filesystem::create_directories(directory_);
  std::ofstream(home_.path() / "elsewhere") << std::string(32, 'x');
  std::filesystem::create_symlink(home_.path() / "elsewhere", file_);
  EXPECT_EQ(user_secret(directory_), "");
}

TEST_F(UserSecretTest, WhereNoneCanBeKeptThereIsNone) {
  EXPECT_EQ(user_secret("/proc/ddbench"), "");
  std::filesystem::create_directories(directory_);
  std::ofstream(file_).close();
  ::chmod(file_.c_str(), 0600);
  EXPECT_EQ(user_secret(directory_), "") << "a part of one is none";
}

}  // namespace
}  // namespace ddbench::launch
