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

TEST(CollectiveCost, ARequestedTierIsNotReplacedByARecordedOne) {
  CollectiveCosts costs;
  costs.add("all_reduce", curve({2, 1}, 50'000, 1));
  costs.set_requested();
  EXPECT_TRUE(costs.has_tier(true));
  EXPECT_FALSE(costs.has_tier(false));
  costs.add("all_reduce", curve({4, 1}, 5000, 0.1));  // the recorded run's own shape
  costs.add("broadcast", curve({8, 1}, 5000, 0.1));
  EXPECT_NEAR(costs.cost("all_reduce", 1e6, {4, 1})->ns / ring(4, 1e6, 50'000, 1), 1, 1e-9);
  EXPECT_NEAR(costs.cost("all_reduce", 1e6, {2, 1})->ns / ring(2, 1e6, 50'000, 1), 1, 1e-9);
  EXPECT_NEAR(costs.cost("all_reduce", 1e6, {16, 1})->ns / ring(16, 1e6, 50'000, 1), 1, 1e-9);
  EXPECT_NEAR(costs.cost("broadcast", 1e6, {8, 1})->ns, 7 * 50'000 + 1e6, 1);
  // The tier that was not requested is the recorded one.
  costs.add("all_reduce", curve({1, 4}, 1000, 0.01));
  EXPECT_NEAR(costs.cost("all_reduce", 1e6, {1, 4})->ns / ring(4, 1e6, 1000, 0.01), 1, 1e-9);
  EXPECT_NEAR(costs.cost("all_reduce", 1e6, {2, 4})->ns, 2 * 50'000 + 12 * 1000 + 2 * 7 / 8.0 * 1e6, 1);
}

/// A ring over k nodes of g: a message crosses nodes where its sender is the last rank of its node.
double ring_over_tiers(int nodes, int gpus, double between, double inside, double moved_ns) {
  double latency = 0;
  const int n = nodes * gpus;
  for (int hop = 0; hop + 1 < n; ++hop) latency += 2 * ((hop + 1) % gpus == 0 ? between : inside);
  return latency + 2 * (n - 1.0) / n * moved_ns;
}

CostCurve curve_over_tiers(ClusterShape shape, double between, double inside, double beta) {
  CostCurve result{shape, {}, 0};
  for (double bytes = 1024; bytes <= 64e6; bytes *= 4)
    result.time_ns[bytes] = ring_over_tiers(shape.nodes, shape.gpus_per_node, between, inside, bytes * beta);
  return result;
}

TEST(CollectiveCost, LatencyOfNodesOfSeveralGpusIsSplitByTheInnerTier) {
  constexpr double kBetween = 50'000;
  constexpr double kInside = 5000;
  CollectiveCosts costs;
  costs.add("all_reduce", curve_over_tiers({2, 8}, kBetween, kInside, 0.1));
  CollectiveCosts split = costs;
  split.add("all_reduce", curve({1, 8}, kInside, 0.01));
  for (const ClusterShape shape : {ClusterShape{2, 8}, {4, 8}, {64, 8}, {4, 4}, {16, 1}}) {
    const double truth = ring_over_tiers(shape.nodes, shape.gpus_per_node, kBetween, kInside, 4096 * 0.1);
    const auto known = split.cost("all_reduce", 4096, shape);
    ASSERT_TRUE(known);
    EXPECT_NEAR(known->ns / truth, 1, 1e-9) << shape.nodes << "x" << shape.gpus_per_node;
    if (shape.gpus_per_node != 8 && shape.gpus_per_node != 1) continue;
    // Without the inner tier: all of it by crossings, with an error that reaches to messages that are alike.
    const auto unknown = costs.cost("all_reduce", 4096, shape);
    ASSERT_TRUE(unknown);
    EXPECT_GE(unknown->ns, truth * (1 - 1e-9));
    EXPECT_GE(unknown->ns * unknown->relative_error, unknown->ns - truth - 1e-3);
  }
  EXPECT_NEAR(split.cost("all_reduce", 4096, {64, 8})->ns, 10.78e6, 0.01e6);
  EXPECT_LT(split.cost("all_reduce", 4096, {64, 8})->relative_error, 0.06);
  // A change of the network between nodes leaves the messages inside of them.
  split.scale_network(0.5, 1);
  EXPECT_NEAR(split.cost("all_reduce", 4096, {64, 8})->ns / ring_over_tiers(64, 8, kBetween / 2, kInside, 4096 * 0.1), 1, 1e-9);
  // A link that states no latency has that of the crossings.
  CollectiveCosts linked = split;
  linked.scale_network(1, 1);
  linked.set_link({1e9, {}});
  EXPECT_NEAR(linked.cost("all_reduce", 4096, {64, 8})->ns / ring_over_tiers(64, 8, kBetween, kInside, 4096), 1, 1e-9);
}

TEST(CollectiveCost, TheGpusOfANodeShareItsLink) {
  constexpr double kBytes = 64e6;
  for (const ClusterShape shape : {ClusterShape{8, 1}, {2, 8}, {4, 2}}) {
    // What leaves the first node, pair by pair.
    const int n = shape.nodes * shape.gpus_per_node;
    double all_to_all = 0;
    double push = 0;
    for (int from = 0; from < shape.gpus_per_node; ++from) {
      for (int to = shape.gpus_per_node; to < n; ++to) {
        all_to_all += kBytes / n;
        push += from == 0 ? kBytes : 0;
      }
    }
    CollectiveCosts link;
    link.set_link({1e9, 0.0});
    link.add("all_reduce", curve({1, 2}, 0, 1e-6));
    EXPECT_NEAR(link.cost("all_to_all", kBytes, shape)->ns / all_to_all, 1, 1e-9) << n;
    EXPECT_NEAR(link.cost("push", kBytes, shape)->ns / push, 1, 1e-9) << n;
    EXPECT_NEAR(link.cost("pull", kBytes, shape)->ns / push, 1, 1e-9) << n;
    // From a measured all_reduce of 2 nodes, whose ring sends its bytes once over each link.
    CollectiveCosts measured;
    measured.add("all_reduce", curve({2, 1}, 0, 1));
    measured.add("all_reduce", curve({1, 2}, 0, 1e-6));
    EXPECT_NEAR(measured.cost("all_to_all", kBytes, shape)->ns / all_to_all, 1, 1e-9) << n;
    EXPECT_NEAR(measured.cost("push", kBytes, shape)->ns / push, 1, 1e-9) << n;
  }
  // Inside a node each GPU has a link of its own.
  CollectiveCosts inside;
  inside.add("all_reduce", curve({1, 2}, 0, 1));
  EXPECT_NEAR(inside.cost("all_to_all", kBytes, {1, 8})->ns / kBytes, 7 / 8.0, 1e-9);
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
