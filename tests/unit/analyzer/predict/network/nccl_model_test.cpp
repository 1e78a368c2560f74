#include "analyzer/predict/network/nccl_model.h"

#include <gtest/gtest.h>

#include <string>

#include "analyzer/predict/network/collective_cost.h"

namespace ddbench::analyzer {
namespace {

NcclNode node_of(const char* sku) {
  const SkuCatalogue catalogue = SkuCatalogue::builtin();
  const auto node = nccl_node(*catalogue.find_sku(sku));
  EXPECT_TRUE(node) << node.reason();
  return *node;
}

TEST(NcclModel, IsNearPublishedAllReducesOfA100) {
  // vTrain, artifact of MICRO 2024, nccl-tests on A100 with NVLink: ranks, bytes, ns. The model knows no losses.
  const struct {
    int ranks;
    double bytes;
    double measured_ns;
  } published[] = {{2, 16777216, 131900},   {2, 268435456, 1455800}, {2, 1073741824, 5442800},
                   {4, 16777216, 179600},   {4, 268435456, 1929000}, {4, 1073741824, 7259400},
                   {8, 16777216, 232400},   {8, 268435456, 2162300}, {8, 1073741824, 8193000}};
  const NcclNode node = node_of("Standard_ND96asr_v4");
  for (const auto& point : published) {
    const auto model = nccl_model_ns(node, "all_reduce", point.bytes, {1, point.ranks});
    ASSERT_TRUE(model);
    EXPECT_GT(*model / point.measured_ns, 0.64) << point.ranks << " " << point.bytes;
    EXPECT_LT(*model / point.measured_ns, 1) << point.ranks << " " << point.bytes;
  }
}

TEST(NcclModel, SmallMessagesAreLatencyAndLargeOnesBandwidth) {
  const NcclNode node = node_of("Standard_ND96asr_v4");
  EXPECT_EQ(*nccl_model_ns(node, "all_reduce", 1e9, {1, 1}), 0);
  // LL: 6.6 us and 14 steps of 0.6 us.
  EXPECT_NEAR(*nccl_model_ns(node, "all_reduce", 0, {1, 8}), 6600 + 14 * 600, 1);
  // 1,600 Gbit/s a node are 192 GB/s; a ring of 16 sends 2 * 15/16 of the bytes.
  const double large = *nccl_model_ns(node, "all_reduce", 64e9, {2, 8});
  EXPECT_NEAR(large, 64e9 * 2 * 15 / 16 / 192, 0.001 * large);
  // Half of an all_reduce is a reduce_scatter.
  EXPECT_NEAR(*nccl_model_ns(node, "reduce_scatter", 64e9, {2, 8}) / large, 0.5, 0.001);
}

TEST(NcclModel, DirectSendsShareTheNicsOfANode) {
  const NcclNode node = node_of("Standard_ND96asr_v4");  // 192 GB/s between nodes
  // 8 GPUs of each node send to the 56 of the others, and all bytes to one of 64 GPUs are S/64.
  EXPECT_NEAR(*nccl_model_ns(node, "all_to_all", 64e9, {8, 8}) / (64e9 * 8 * 56 / 64 / 192), 1, 0.001);
  EXPECT_NEAR(*nccl_model_ns(node, "push", 64e9, {8, 8}) / (64e9 * 56 / 192), 1, 0.001);
  // Inside a node by NVLink, each GPU for itself.
  EXPECT_NEAR(*nccl_model_ns(node, "all_to_all", 64e9, {1, 8}) / (64e9 * 7 / 8 / node.intra_gb_per_s), 1, 0.001);
}

TEST(NcclModel, ATreeWinsWhereManyNodesSendLittle) {
  const NcclNode node = node_of("Standard_ND96asr_v4");
  const double of_64 = *nccl_model_ns(node, "all_reduce", 1024, {64, 8});
  const double of_512 = *nccl_model_ns(node, "all_reduce", 1024, {512, 8});
  EXPECT_LT(of_512 / of_64, 1.7);  // log2: 9 hops instead of 6; a ring would take 8 times as long
}

TEST(NcclModel, WhatTheCatalogueDoesNotShowIsMissing) {
  Sku sku;
  sku.name = "Laptop";
  sku.gpu = "RTX";
  ASSERT_FALSE(nccl_node(sku));
  EXPECT_NE(nccl_node(sku).reason().find("RTX"), std::string::npos);
  sku.gpu = "V100 SXM2";
  sku.intra_link = "NVLink2";
  const auto node = nccl_node(sku);
  ASSERT_TRUE(node);
  EXPECT_TRUE(nccl_model_ns(*node, "all_reduce", 1e6, {1, 8}));
  EXPECT_FALSE(nccl_model_ns(*node, "all_reduce", 1e6, {2, 8}));
}

TEST(NcclModel, ScalesWithTheNetwork) {
  CollectiveCosts costs;
  costs.set_nominal(node_of("Standard_ND96asr_v4"));
  const ClusterShape shape{8, 8};
  const double usual = costs.cost("all_reduce", 1e9, shape)->ns;
  const double latency = costs.cost("all_reduce", 0, shape)->ns;
  costs.scale_network(0.5, 1);
  EXPECT_NEAR(costs.cost("all_reduce", 1e9, shape)->ns, usual - latency / 2, 1);
  costs.scale_network(1, 0.5);
  EXPECT_NEAR(costs.cost("all_reduce", 1e9, shape)->ns, latency + (usual - latency) / 2, 1);
  EXPECT_EQ(costs.cost("all_reduce", 1e9, shape)->relative_error, kNcclModelError);
}

}  // namespace
}  // namespace ddbench::analyzer
