#include "harness/launch/remote/turns.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <string>

#include "core/error.h"
#include "expect_error.h"
#include "hang_limit.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;

constexpr const char* kPlace[] = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT", "DDBENCH_TOKEN"};

/// Two ranks of one node; the port is one that was free a moment ago.
class Turns : public testing::Test {
 protected:
  void SetUp() override {
    const UniqueFd probe = listen_at({"127.0.0.1", 0});
    options_.port = local_end(probe.get()).port;
    options_.launcher = Launcher::kEnv;
    options_.start_deadline = test::kHangs;
  }
  void TearDown() override {
    for (const char* name : kPlace) ::unsetenv(name);
  }

  std::unique_ptr<TurnWorld> world_of(int rank, const char* token = "a secret of 24 characters") const {
    const std::string number = std::to_string(rank);
    const char* const values[] = {number.c_str(), "2", number.c_str(), "2", "0", "127.0.0.1", "29500", token};
    for (std::size_t i = 0; i < std::size(kPlace); ++i) ::setenv(kPlace[i], values[i], 1);
    return std::make_unique<TurnWorld>(options_);
  }

  LauncherOptions options_;
};

TEST_F(Turns, AreFollowedToTheEndThatRank0Announces) {
  const auto first = world_of(0), second = world_of(1);
  auto caller = std::async(std::launch::async, [&] { return std::make_unique<TurnCaller>(*first, options_); });
  TurnFollower follower(*second, options_);
  const auto turns = caller.get();
  for (const int number : {0, 3}) {
    turns->call(number);
    const auto next = follower.next();
    ASSERT_TRUE(std::holds_alternative<Turn>(next));
    EXPECT_EQ(std::get<Turn>(next).number, number);
  }
  turns->finish(130);
  const auto last = follower.next();
  ASSERT_TRUE(std::holds_alternative<TurnsEnd>(last));
  EXPECT_EQ(std::get<TurnsEnd>(last).exit_code, 130);
}

TEST_F(Turns, ARank0ThatIsGoneIsNoEnd) {
  const auto first = world_of(0), second = world_of(1);
  auto caller = std::async(std::launch::async, [&] { return std::make_unique<TurnCaller>(*first, options_); });
  TurnFollower follower(*second, options_);
  auto turns = caller.get();
  turns->call(1);
  turns.reset();  // as when its process dies, or throws
  EXPECT_EQ(std::get<Turn>(follower.next()).number, 1);
  EXPECT_ERROR(ErrorCode::kRunFailed, "127.0.0.1:" + std::to_string(options_.port), (void)follower.next());
}

TEST_F(Turns, NobodyJoinsWithoutTheSecretOfTheJob) {
  const auto first = world_of(0), stranger = world_of(1, "another secret, as long as it"), second = world_of(1);
  auto caller = std::async(std::launch::async, [&] { return std::make_unique<TurnCaller>(*first, options_); });
  EXPECT_ERROR(ErrorCode::kRunFailed, "does not know this run's secret", TurnFollower(*stranger, options_));
  TurnFollower follower(*second, options_);
  caller.get()->finish(0);
  EXPECT_TRUE(std::holds_alternative<TurnsEnd>(follower.next()));
}

TEST_F(Turns, AStrangerThatSaysNothingDelaysNobody) {
  const auto first = world_of(0), second = world_of(1);
  auto caller = std::async(std::launch::async, [&] { return std::make_unique<TurnCaller>(*first, options_); });
  const UniqueFd silent = connect_to({"127.0.0.1", options_.port}, test::kHangs);
  TurnFollower follower(*second, options_);
  const auto turns = caller.get();
  turns->finish(0);
  EXPECT_TRUE(std::holds_alternative<TurnsEnd>(follower.next()));
}

}  // namespace
}  // namespace ddbench::launch
