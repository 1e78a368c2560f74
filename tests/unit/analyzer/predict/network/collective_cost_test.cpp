#include "analyzer/predict/network/collective_cost.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ddbench::analyzer {
namespace {

/// A ring of `n`: 2(n-1) alpha + 2(n-1)/n S beta.
double ring(double n, double bytes, double alpha, double beta) {
  return 2 * (n - 1) * alpha + 2 * (n - 1) / n * bytes * beta;
}

CostCurve curve(ClusterShape shape, double alpha, double beta) {
  CostCurve result{shape, {}, 0};
  for (double bytes = 1024; bytes <= 64e6; bytes *= 4) result.time_ns[bytes] = ring(shape.gpus(), bytes, alpha, beta);
  return result;
}

TEST(CollectiveCost, OneShapeIsReadFromItsCurve) {
  CollectiveCosts costs;
  costs.add("all_reduce", curve({2, 1}, 5000, 0.1));
  for (const double bytes : {100.0, 3000.0, 1e6, 5e8}) {
    const auto cost = costs.cost("all_reduce", bytes, {2, 1});
    ASSERT_TRUE(cost);
    EXPECT_NEAR(cost->ns / ring(2, bytes, 5000, 0.1), 1, 1e-9) << bytes;
  }
}

TEST(CollectiveCost, ATierIsCarriedToOtherNumbersOfRanks) {
  CollectiveCosts costs;
  costs.add("all_reduce", curve({2, 1}, 5000, 0.1));
  for (const int nodes : {4, 64}) {
    const auto cost = costs.cost("all_reduce", 2e6, {nodes, 1});
    ASSERT_TRUE(cost);
    EXPECT_NEAR(cost->ns / ring(nodes, 2e6, 5000, 0.1), 1, 1e-9);
    EXPECT_GT(cost->relative_error, 0);
  }
  // A function that was not measured has half the messages and bytes.
  EXPECT_NEAR(costs.cost("reduce_scatter", 2e6, {4, 1})->ns / ring(4, 2e6, 5000, 0.1), 0.5, 1e-9);
}

TEST(CollectiveCost, ATierThatIsNotKnownIsNotCrossed) {
  CollectiveCosts costs;
  EXPECT_FALSE(costs.cost("all_reduce", 1e6, {1, 2}));
  EXPECT_EQ(costs.cost("all_reduce", 1e6, {1, 1})->ns, 0);
  costs.add("all_reduce", curve({1, 8}, 1000, 0.01));
  const auto second = costs.cost("all_reduce", 1e6, {2, 8});
  ASSERT_FALSE(second);
  EXPECT_NE(second.reason().find("ddbench micro --nodes 2"), std::string::npos) << second.reason();
  EXPECT_TRUE(costs.cost("all_reduce", 1e6, {1, 4}));
  CollectiveCosts network;
  network.add("all_reduce", curve({2, 1}, 5000, 0.1));
  const auto inside = network.cost("all_reduce", 1e6, {2, 8});
  ASSERT_FALSE(inside);
  EXPECT_NE(inside.reason().find("--nodes 1"), std::string::npos) << inside.reason();
}

TEST(CollectiveCost, ARingOverTwoTiersIsAsFastAsTheSlowerOne) {
  CollectiveCosts costs;
  costs.add("all_reduce", curve({1, 4}, 1000, 0.01));
  costs.add("all_reduce", curve({2, 1}, 5000, 0.1));
  // Two of the 14 messages cross.
  const double two_tiers = 2 * 5000 + 12 * 1000 + 2 * 7 / 8.0 * 1e6 * 0.1;
  EXPECT_NEAR(costs.cost("all_reduce", 1e6, {2, 4})->ns / two_tiers, 1, 1e-9);
  costs.set_link({1e9, 20'000.0});
  EXPECT_NEAR(costs.cost("all_reduce", 1e6, {2, 4})->ns, 2 * 20'000 + 12 * 1000 + 2 * 7 / 8.0 * 1e6, 1e-3);
  CollectiveCosts slow_inside;
  slow_inside.add("all_reduce", curve({1, 4}, 9000, 0.3));
  slow_inside.add("all_reduce", curve({2, 1}, 5000, 0.1));
  EXPECT_NEAR(slow_inside.cost("all_reduce", 1e6, {2, 4})->ns / ring(8, 1e6, 9000, 0.3), 1, 1e-9);
}

TEST(CollectiveCost, HierarchicalCollectivesSendEachByteOverANodesLinkOnce) {
  CollectiveCosts costs;
  costs.add("all_reduce", curve({1, 4}, 1000, 0.01));
  costs.add("all_reduce", curve({2, 1}, 5000, 0.1));
  const double ring_ns = costs.cost("all_reduce", 1e6, {8, 4})->ns;
  costs.set_algorithm(CollectiveAlgorithm::kHierarchical);
  // reduce_scatter and all_gather inside are one ring of 4; between nodes a ring of 8.
  const double expected = ring(4, 1e6, 1000, 0.01) + ring(8, 1e6, 5000, 0.1);
  EXPECT_NEAR(costs.cost("all_reduce", 1e6, {8, 4})->ns / expected, 1, 1e-9);
  EXPECT_NEAR(costs.cost("all_gather", 1e6, {8, 4})->ns / expected, 0.5, 1e-9);
  EXPECT_LT(costs.cost("all_reduce", 100, {8, 4})->ns, ring_ns);
  // One tier is as it was.
  EXPECT_NEAR(costs.cost("all_reduce", 1e6, {2, 1})->ns / ring(2, 1e6, 5000, 0.1), 1, 1e-9);
  costs.set_algorithm(CollectiveAlgorithm::kTree);
  const auto tree = costs.cost("all_reduce", 1e6, {8, 4});
  ASSERT_FALSE(tree);
  EXPECT_NE(tree.reason().find("SKU"), std::string::npos) << tree.reason();
}

TEST(CollectiveCost, NominalNodesHaveRingsTreesAndHierarchies) {
  NcclNode node;
  node.intra_gb_per_s = 240;
  node.inter_gb_per_s = 24;
  node.channels = 24;
  CollectiveCosts costs;
  costs.set_nominal(node);
  const auto at = [&](CollectiveAlgorithm algorithm, double bytes) {
    costs.set_algorithm(algorithm);
    return costs.cost("all_reduce", bytes, {64, 8})->ns;
  };
  for (const double bytes : {1e3, 1e6, 1e9}) {
    const double ring_ns = at(CollectiveAlgorithm::kRing, bytes);
    const double tree_ns = at(CollectiveAlgorithm::kTree, bytes);
    EXPECT_DOUBLE_EQ(at(CollectiveAlgorithm::kUsual, bytes), std::min(ring_ns, tree_ns));
  }
  EXPECT_LT(at(CollectiveAlgorithm::kTree, 1e3), at(CollectiveAlgorithm::kRing, 1e3));  // fewer messages
  EXPECT_LT(at(CollectiveAlgorithm::kRing, 1e9), at(CollectiveAlgorithm::kTree, 1e9));  // fewer bytes
  // The bytes of a node cross once in both; the hierarchy adds those inside of nodes, and saves messages.
  const double added = (2 * 7 / 8.0 / 240 + 2 * 63 / 64.0 / 24) / (2 * 511 / 512.0 / 24);
  EXPECT_NEAR(at(CollectiveAlgorithm::kHierarchical, 1e12) / at(CollectiveAlgorithm::kRing, 1e12), added, 0.001);
  EXPECT_LT(at(CollectiveAlgorithm::kHierarchical, 1e3), at(CollectiveAlgorithm::kRing, 1e3));
}

TEST(CollectiveCost, ASpecifiedLinkTakesItsRateAndLatency) {
  CollectiveCosts costs;
  costs.set_link({1e9, 20'000.0});
  EXPECT_NEAR(costs.cost("all_reduce", 1e6, {4, 1})->ns, ring(4, 1e6, 20'000, 1), 1e-6);
  costs.set_link({1e9, {}});
  EXPECT_FALSE(costs.cost("all_reduce", 1e6, {4, 1}));  // no latency, and none measured
  costs.add("all_reduce", curve({1, 2}, 7000, 0.01));
  EXPECT_NEAR(costs.cost("all_reduce", 1e6, {4, 1})->ns, ring(4, 1e6, 7000, 1), 1);
}

TEST(CollectiveCost, OneMeasuredSizeDoesNotShowOthers) {
  CollectiveCosts costs;
  costs.add("all_reduce", {{2, 1}, {{1e6, 5e5}}, 0});
  EXPECT_NEAR(costs.cost("all_reduce", 1e6, {2, 1})->ns, 5e5, 1e-6);
  const auto other = costs.cost("all_reduce", 2e6, {2, 1});
  ASSERT_FALSE(other);
  EXPECT_NE(other.reason().find("says nothing about"), std::string::npos);
}

TEST(CollectiveCost, ANetworkIsScaledInItsLatencyAndBandwidth) {
  CollectiveCosts costs;
  costs.add("all_reduce", curve({2, 1}, 5000, 0.1));
  costs.scale_network(0.5, 0.25);
  EXPECT_NEAR(costs.cost("all_reduce", 1e6, {2, 1})->ns / ring(2, 1e6, 2500, 0.025), 1, 1e-9);
}

}  // namespace
}  // namespace ddbench::analyzer
