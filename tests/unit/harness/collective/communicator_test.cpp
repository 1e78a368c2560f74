#include "harness/collective/communicator.h"

#include <gtest/gtest.h>

#include <array>

#include "core/error.h"

namespace ddbench::collective {
namespace {

class NoStore final : public KeyValueStore {
  void set(const std::string& key, const Bytes&) override { ADD_FAILURE() << "a lonely rank set " << key; }
  Bytes get(const std::string& key, std::chrono::milliseconds) override {
    ADD_FAILURE() << "a lonely rank asked for " << key;
    return {};
  }
};

TEST(OneRank, CollectivesAreCompleteAtOnceAndChangeNothing) {
  NoStore store;
  const auto communicator = make_communicator("gloo", {.rank = 0, .world_size = 1, .id = 7}, store);
  std::array<float, 3> data{1, 2, 3};
  communicator->all_reduce_sum(data);
  communicator->broadcast(data, 0);
  communicator->barrier();
  EXPECT_EQ(data, (std::array<float, 3>{1, 2, 3}));
  EXPECT_EQ(communicator->transport(), "none");
  EXPECT_EQ(communicator->id(), 7);
  EXPECT_THROW(communicator->broadcast(data, 1), Error);
  EXPECT_THROW(communicator->reduce_sum(data, 1), Error);
  EXPECT_THROW(communicator->send(data, 0), Error);
  EXPECT_THROW(communicator->receive(data, 0), Error);
}

TEST(OneRank, AbortMakesLaterCollectivesThrow) {
  NoStore store;
  const auto communicator = make_communicator("gloo", {}, store);
  communicator->abort();
  communicator->abort();
  std::array<float, 1> data{1};
  EXPECT_THROW(communicator->all_reduce_sum(data), Error);
  EXPECT_THROW(communicator->broadcast(data, 0), Error);
  EXPECT_THROW(communicator->barrier(), Error);
}

TEST(MakeCommunicator, NonsenseIsNamed) {
  NoStore store;
  try {
    make_communicator("carrier-pigeon", {}, store);
    FAIL() << "an unknown backend was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_EQ(error.message(), "backend \"carrier-pigeon\" is not known; backends: gloo, mpi, nccl");
  }
  EXPECT_THROW(make_communicator("gloo", {.rank = 2, .world_size = 2}, store), Error);
  EXPECT_THROW(make_communicator("gloo", {.rank = -1, .world_size = 2}, store), Error);
  EXPECT_THROW(make_communicator("gloo", {.rank = 0, .world_size = 0}, store), Error);
}

}  // namespace
}  // namespace ddbench::collective
