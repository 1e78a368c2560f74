#include "harness/launch/control/rendezvous.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "expect_error.h"

namespace ddbench::launch {
namespace {

using test::message_of;

class RendezvousTest : public ::testing::Test {
 protected:
  void expect_refused(const std::function<void()>& action) {
    EXPECT_NE(message_of(ErrorCode::kRunFailed, action).find("rendezvous"), std::string::npos);
  }

  std::vector<std::pair<int, KvValue>> answers_;
  Rendezvous rendezvous_{[this](int rank, const KvValue& value) { answers_.emplace_back(rank, value); }};
};

TEST_F(RendezvousTest, AnswersNowOrWhenTheKeyIsSet) {
  rendezvous_.get(1, {7, "k"});
  rendezvous_.get(2, {8, "k"});
  EXPECT_TRUE(answers_.empty());
  rendezvous_.set(0, {"k", {'v'}});
  ASSERT_EQ(answers_.size(), 2u);
  EXPECT_EQ(answers_[0].first, 1);
  EXPECT_EQ(answers_[0].second.id, 7u);
  EXPECT_EQ(answers_[1].first, 2);
  rendezvous_.get(3, {9, "k"});
  ASSERT_EQ(answers_.size(), 3u);
  EXPECT_EQ(answers_[2].second.value, collective::Bytes{'v'});
  rendezvous_.set(0, {"k", {'w'}});
  EXPECT_EQ(answers_.size(), 3u);
}

TEST_F(RendezvousTest, ARankStoresABoundedNumberOfBytes) {
  const collective::Bytes large(Rendezvous::kMostBytesOfRank / 8 - 100, 'x');
  for (int i = 0; i < 8; ++i) rendezvous_.set(0, {std::to_string(i), large});
  expect_refused([&] { rendezvous_.set(0, {"8", large}); });
  expect_refused([&] { rendezvous_.set(0, {"9", large}); });
  rendezvous_.get(1, {1, "8"});
  EXPECT_TRUE(answers_.empty()) << "what was refused is not kept";
  rendezvous_.set(1, {"8", large});
  EXPECT_EQ(answers_.size(), 1u) << "another rank has room of its own";
  for (int i = 0; i < 100; ++i) rendezvous_.set(0, {"7", large});
  rendezvous_.set(0, {"7", {}});
  rendezvous_.set(0, {"8", large});
}

TEST_F(RendezvousTest, ARankStoresABoundedNumberOfKeys) {
  for (std::size_t i = 0; i < Rendezvous::kMostKeysOfRank; ++i) rendezvous_.set(0, {std::to_string(i), {}});
  expect_refused([&] { rendezvous_.set(0, {"one more", {}}); });
  rendezvous_.set(0, {"0", {'x'}});
  expect_refused([&] { rendezvous_.set(1, {std::string(Rendezvous::kMostKeyBytes + 1, 'k'), {}}); });
  expect_refused([&] { rendezvous_.get(1, {1, std::string(Rendezvous::kMostKeyBytes + 1, 'k')}); });
}

TEST_F(RendezvousTest, ARankWaitsForABoundedNumberOfKeys) {
  for (std::size_t i = 0; i < Rendezvous::kMostWaitsOfRank; ++i) rendezvous_.get(0, {i, "missing"});
  expect_refused([&] { rendezvous_.get(0, {0, "another"}); });
  rendezvous_.get(1, {0, "another"});
  rendezvous_.set(2, {"missing", {}});
  EXPECT_EQ(answers_.size(), Rendezvous::kMostWaitsOfRank);
  rendezvous_.get(0, {0, "another"});
}

}  // namespace
}  // namespace ddbench::launch
