#include "harness/launch/control/rendezvous.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"
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
  std::vector<std::pair<int, KvParts>> gathered_;
  std::vector<std::pair<int, std::string>> blamed_;
  Rendezvous rendezvous_{[this](int rank, const Message& answer) {
    if (const auto* value = std::get_if<KvValue>(&answer)) answers_.emplace_back(rank, *value);
    if (!std::holds_alternative<KvParts>(answer)) return;
    KvParts received = std::get<KvParts>(decode(encode(answer)));
    received.parts = parts_of(received);
    gathered_.emplace_back(rank, std::move(received));
  }, [this](int rank, const std::string& what) { blamed_.emplace_back(rank, what); }};
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

TEST_F(RendezvousTest, AllValuesComeAtOnceWhenTheLastIsSet) {
  rendezvous_.set(0, {"p/0", {'a'}});
  rendezvous_.gather(0, {5, "p/", 2, -1});
  rendezvous_.set(1, {"p/2", {'x'}});
  rendezvous_.set(1, {"p/01", {'x'}});
  rendezvous_.set(0, {"p/0", {'b'}});
  EXPECT_TRUE(gathered_.empty()) << "none of these is the missing key";
  rendezvous_.gather(1, {6, "p/", 2, -1});
  rendezvous_.set(1, {"p/1", {'c'}});
  ASSERT_EQ(gathered_.size(), 2u);
  EXPECT_EQ(gathered_[0].first, 0);
  EXPECT_EQ(gathered_[0].second.id, 5u);
  EXPECT_EQ(gathered_[1].second.parts, (std::vector<collective::Bytes>{{'b'}, {'c'}}));
  rendezvous_.gather(2, {7, "p/", 2, -1});
  EXPECT_EQ(gathered_.size(), 3u) << "who comes late is answered at once";
  rendezvous_.set(1, {"p/1", {'d'}});
  rendezvous_.gather(3, {8, "p/", 2, -1});
  ASSERT_EQ(gathered_.size(), 4u);
  EXPECT_EQ(gathered_[3].second.parts, (std::vector<collective::Bytes>{{'b'}, {'d'}})) << "what was gathered before does not stand for it";
  rendezvous_.gather(3, {9, "p/", 1, -1});
  ASSERT_EQ(gathered_.size(), 5u);
  EXPECT_EQ(gathered_[4].second.parts, (std::vector<collective::Bytes>{{'b'}})) << "another number of keys";
}

TEST_F(RendezvousTest, AColumnIsWhatEachRankHasForOne) {
  rendezvous_.set(0, {"g/0", {'0', '1', '0', '2'}});  // for 1, for 2
  rendezvous_.set(1, {"g/1", {'1', '0', '1', '2'}});
  rendezvous_.set(2, {"g/2", {'2', '0', '2', '1'}});
  rendezvous_.gather(1, {1, "g/", 3, 1});
  ASSERT_EQ(gathered_.size(), 1u);
  EXPECT_EQ(gathered_[0].second.parts, (std::vector<collective::Bytes>{{'0', '1'}, {}, {'2', '1'}}));
}

TEST_F(RendezvousTest, WhoSetWhatCannotBeCutIsBlamedAndAllWhoWaitAreAnswered) {
  rendezvous_.gather(0, {1, "h/", 3, 0});
  rendezvous_.gather(1, {2, "h/", 3, 1});
  rendezvous_.set(0, {"h/0", {'0', '1', '0', '2'}});
  rendezvous_.set(1, {"h/1", {'1', '2', '3'}});  // three bytes for two peers
  EXPECT_NO_THROW(rendezvous_.set(2, {"h/2", {'2', '0', '2', '1'}})) << "whose key is whole, though it comes last";
  ASSERT_EQ(gathered_.size(), 2u);
  EXPECT_NE(gathered_[0].second.error.find("rank 1: its 3 bytes"), std::string::npos) << gathered_[0].second.error;
  EXPECT_EQ(gathered_[1].first, 1);
  EXPECT_EQ(gathered_[1].second.error, "") << "its own piece is empty whatever the others' are";
  ASSERT_EQ(blamed_.size(), 1u);
  EXPECT_EQ(blamed_[0].first, 1);
  rendezvous_.gather(2, {3, "h/", 3, 2});
  ASSERT_EQ(gathered_.size(), 3u) << "who comes late is answered, too";
  EXPECT_TRUE(gathered_[2].second.parts.empty());
  EXPECT_NE(gathered_[2].second.error, "");
}

TEST_F(RendezvousTest, APlaceBeyondTheKeysHasNoColumn) {
  rendezvous_.set(0, {"p0", collective::Bytes(64, 'a')});
  rendezvous_.set(1, {"p1", collective::Bytes(64, 'b')});
  for (const int index : {2, 3, 60000}) expect_refused([&] { rendezvous_.gather(0, {7, "p", 2, index}); });
  EXPECT_TRUE(gathered_.empty());
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
