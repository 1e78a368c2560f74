// Which ranks train on the same data, and which share a GPU, by what they reported.
#include "analyzer/program/rank_inputs.h"

#include <gtest/gtest.h>

namespace ddbench::analyzer {
namespace {

using Order = LoaderEpoch::Order;

constexpr const char* kA = "aaaaaaaaaaaaaaaa";
constexpr const char* kB = "bbbbbbbbbbbbbbbb";
constexpr const char* kC = "cccccccccccccccc";

RankInputs first(const char* hash, std::vector<std::string> values, std::int64_t indices = 64) {
  RankInputs rank;
  rank.epochs.push_back({0, 1000, Order::kShuffled, hash[0] == '\0' ? 0 : indices, hash, std::move(values)});
  return rank;
}

TEST(SameData, IsTheSameOrderWithTheSameValues) {
  const auto same = ranks_with_same_data({first(kA, {kC}), first(kA, {kC}), first(kB, {kC}), first(kA, {kC})});
  ASSERT_TRUE(same);
  EXPECT_EQ(*same, (RankGroups{{0, 1, 3}})) << "rank 2 has other samples, of which the first ones look alike";
  const auto pairs = ranks_with_same_data({first(kA, {kC}), first(kB, {kA}), first(kA, {kC}), first(kB, {kA})});
  EXPECT_EQ(*pairs, (RankGroups{{0, 2}, {1, 3}}));
  EXPECT_EQ(*ranks_with_same_data({first(kA, {kC}), first(kB, {kC})}), RankGroups{});
}

TEST(SameData, IsNotKnownWhereSomeTensorsAreEqual) {
  const auto order = ranks_with_same_data({first(kA, {kA, "-", kC}), first(kA, {kB, "-", kC})});
  EXPECT_FALSE(order) << "labels of samples that are changed at random, or lengths of shards";
  EXPECT_NE(order.reason().find("draw the same indices, but only some of their batches' values are equal"), std::string::npos);
  const auto keys = ranks_with_same_data({first("", {kC, kA}), first("", {kC, kB})});
  EXPECT_FALSE(keys) << "keys that each shard counts anew";
  EXPECT_NE(keys.reason().find("samples without indices"), std::string::npos);
  EXPECT_EQ(*ranks_with_same_data({first(kA, {kC, kA}), first(kA, {kC, kA}), first(kA, {kC, kB})}), (RankGroups{{0, 1}}));
}

TEST(SameData, ATensorThatOneRankCannotCompareDiffers) {
  EXPECT_FALSE(ranks_with_same_data({first("", {kC, "-"}), first("", {kC, kB})}));
  EXPECT_FALSE(ranks_with_same_data({first(kA, {kC}), first(kA, {kC, kB})}));
  EXPECT_EQ(*ranks_with_same_data({first("", {"-", kC}), first("", {"-", kC})}), (RankGroups{{0, 1}})) << "a running key is \"-\" on both";
  EXPECT_EQ(*ranks_with_same_data({first("", {"-", kC}), first("", {"-", kB})}), RankGroups{});
}

TEST(SameData, IsNotClaimedWhereShardsWouldLookLikeIt) {
  const auto shards = ranks_with_same_data({first(kA, {kB}), first(kA, {kC})});
  EXPECT_FALSE(shards);
  EXPECT_NE(shards.reason().find("shards of their own"), std::string::npos);
  const auto constant = ranks_with_same_data({first(kA, {"-"}), first(kA, {"-"})});
  EXPECT_FALSE(constant);
  EXPECT_NE(constant.reason().find("could not be compared"), std::string::npos);
  auto larger = first(kA, {kC});
  larger.epochs[0].samples = 999;
  EXPECT_EQ(*ranks_with_same_data({first(kA, {kC}), larger}), RankGroups{}) << "another data set";
}

TEST(SameData, DataWithoutIndicesAreComparedByTheirValues) {
  EXPECT_EQ(*ranks_with_same_data({first("", {kC}), first("", {kC})}), (RankGroups{{0, 1}}));
  EXPECT_EQ(*ranks_with_same_data({first("", {kC}), first("", {kB})}), RankGroups{});
  EXPECT_EQ(ranks_with_same_data({first("", {}), first("", {})}).reason(), "the values of the ranks' batches could not be compared");
}

TEST(SameData, HashesOfOtherNumbersOfIndicesAreNotCompared) {
  auto a = first(kA, {kC}, 8);
  a.epochs.push_back({0, 1000, Order::kShuffled, 64, kB, {kC}});
  EXPECT_EQ(*ranks_with_same_data({a, first(kA, {kC}, 8)}), (RankGroups{{0, 1}})) << "rank 1 ended after 8";
}

TEST(SameData, IsNotKnownWhereARankReportedNothing) {
  EXPECT_EQ(ranks_with_same_data({first(kA, {kC}), RankInputs{}}).reason(),
            "rank 1 reported no training data: only batches of PyTorch's DataLoader are seen");
  EXPECT_FALSE(ranks_with_same_data({first(kA, {kC})}));
  EXPECT_FALSE(ranks_with_same_data({}));
}

TEST(RepeatedOrderOfRanks, NamesThoseWhosePassesAreAlike) {
  const auto rank = [](Order order, const char* second, std::int64_t indices) {
    RankInputs inputs;
    inputs.epochs.push_back({0, 100, order, 4, kC, {}, 0, false});
    inputs.epochs.push_back({0, 100, order, indices, kA, {}, 0, false});
    inputs.epochs.push_back({0, 100, order, indices, kA, {}, 0, true});
    inputs.epochs.push_back({1, 100, order, indices, second, {}, 0, false});
    return inputs;
  };
  const RepeatedOrder found = ranks_with_repeated_order(
      {rank(Order::kDistributed, kA, 50), rank(Order::kDistributed, kB, 50), rank(Order::kShuffled, kA, 50), rank(Order::kFixed, kA, 50),
       rank(Order::kDistributed, kA, 4), first(kA, {})});
  EXPECT_EQ(found.distributed, std::vector<int>{0});
  EXPECT_EQ(found.shuffled, std::vector<int>{2});
}

/// Passes with one order, of which the first ended or was broken off.
std::vector<int> repeated(const std::vector<std::int64_t>& datasets, bool ended) {
  RankInputs inputs;
  for (std::size_t i = 0; i < datasets.size(); ++i)
    inputs.epochs.push_back({static_cast<std::int64_t>(i), 100, Order::kDistributed, 64, kA, {}, datasets[i], i > 0 || ended});
  return ranks_with_repeated_order({inputs}).distributed;
}

TEST(RepeatedOrderOfRanks, IsNotClaimedAfterAPassThatWasBrokenOff) {
  EXPECT_EQ(repeated({0, 0}, true), std::vector<int>{0});
  EXPECT_TRUE(repeated({0, 0}, false).empty()) << "a search of the learning rate, then epoch 0";
  EXPECT_EQ(repeated({0, 0, 0}, false), std::vector<int>{0}) << "steps per epoch are limited";
}

TEST(RepeatedOrderOfRanks, IsOfOneDataSet) {
  EXPECT_TRUE(repeated({0, 1}, true).empty()) << "two loaders with one length and one seed";
  EXPECT_TRUE(repeated({0, 1, 0}, false).empty());
  EXPECT_TRUE(repeated({-1, -1, -1}, true).empty()) << "not known which";
  EXPECT_TRUE(repeated({0}, true).empty());
  EXPECT_TRUE(repeated({}, true).empty());
}

TEST(SharedGpus, AreToldApartByTheirUuid) {
  const std::string one(32, '1');
  const std::string two(32, '2');
  const auto of = [](const std::string& uuid) { return rank_inputs({"all_reduce", rank_gpu_name({uuid, "0000:17:00.0"})}); };
  using Shared = std::vector<std::pair<std::string, std::vector<int>>>;
  EXPECT_EQ(ranks_that_share_gpus({of(one), of(two), of(one), RankInputs{}}), (Shared{{"0000:17:00.0", {0, 2}}}));
  EXPECT_EQ(ranks_that_share_gpus({of(one), of(two), RankInputs{}, RankInputs{}}), Shared{}) << "nodes have GPUs of the same bus id";
}

}  // namespace
}  // namespace ddbench::analyzer
