#include "analyzer/predict/network/collective_cost.h"

#include <gtest/gtest.h>

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
  EXPECT_NEAR(costs.cost("all_reduce", 1e6, {2, 4})->ns / ring(8, 1e6, 5000, 0.1), 1, 1e-9);
  CollectiveCosts slow_inside;
  slow_inside.add("all_reduce", curve({1, 4}, 9000, 0.3));
  slow_inside.add("all_reduce", curve({2, 1}, 5000, 0.1));
  EXPECT_NEAR(slow_inside.cost("all_reduce", 1e6, {2, 4})->ns / ring(8, 1e6, 9000, 0.3), 1, 1e-9);
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

TEST(CollectiveCost, OneMeasuredSizeDoesNotTellOthers) {
  CollectiveCosts costs;
  costs.add("all_reduce", {{2, 1}, {{1e6, 5e5}}, 0});
  EXPECT_NEAR(costs.cost("all_reduce", 1e6, {2, 1})->ns, 5e5, 1e-6);
  const auto other = costs.cost("all_reduce", 2e6, {2, 1});
  ASSERT_FALSE(other);
  EXPECT_NE(other.reason().find("does not tell"), std::string::npos);
}

TEST(CollectiveCost, ANetworkIsScaledInItsLatencyAndBandwidth) {
  CollectiveCosts costs;
  costs.add("all_reduce", curve({2, 1}, 5000, 0.1));
  costs.scale_network(0.5, 0.25);
  EXPECT_NEAR(costs.cost("all_reduce", 1e6, {2, 1})->ns / ring(2, 1e6, 2500, 0.025), 1, 1e-9);
}

}  // namespace
}  // namespace ddbench::analyzer
