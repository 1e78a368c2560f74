#include "analyzer/catalogue/sku_check.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "text.h"

namespace ddbench::analyzer {
namespace {

using test::contains;

const SkuCatalogue& catalogue() {
  static const SkuCatalogue built_in = SkuCatalogue::builtin();
  return built_in;
}

const Sku& sku(const char* name) {
  return *catalogue().find_sku(name);
}

std::string refusal(const char* name, const AskedOfNode& asked) {
  try {
    require_of_sku(sku(name), asked);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    return error.message();
  }
  return "";
}

TEST(SkuCheck, ANodeHasSoManyGpusAndSuchANetwork) {
  EXPECT_EQ(refusal("Standard_NC24rs_v3", {.gpus = 4, .infiniband = true}), "");
  EXPECT_TRUE(contains(refusal("Standard_NC24rs_v3", {.gpus = 8}), "--gpus 8: a node of Standard_NC24rs_v3 has 4 GPUs"));
  EXPECT_TRUE(contains(refusal("Standard_HC44rs", {.gpus = 1}), "has no GPU"));
  EXPECT_TRUE(contains(refusal("Standard_NC24s_v3", {.gpus = 4, .infiniband = true}), "has no InfiniBand, its network is Ethernet"));
  EXPECT_TRUE(contains(refusal("Standard_NC24r", {.gpus = 4, .infiniband = true}), "no SR-IOV"));
  EXPECT_TRUE(contains(refusal("p4d.24xlarge", {.gpus = 8, .infiniband = true}), "its network is EFA"));
  EXPECT_EQ(refusal("Standard_NC24r", {.gpus = 4}), "");
  EXPECT_EQ(refusal("Standard_ND96asr_v4", {.gpus = 0}), "");
}

TEST(SkuCheck, AMisspeltNameIsAnswered) {
  EXPECT_TRUE(contains(unknown_sku(catalogue(), "Standard_ND96asr_v5"), "did you mean Standard_ND96asr_v4?"));
  EXPECT_TRUE(contains(unknown_sku(catalogue(), "NC24sr_v3"), "did you mean Standard_NC24"));
  EXPECT_FALSE(contains(unknown_sku(catalogue(), "our-rack"), "did you mean"));
  EXPECT_EQ(catalogue().find_sku("nd96ASR_v4")->name, "Standard_ND96asr_v4");
  EXPECT_EQ(catalogue().find_sku("ND96"), nullptr);
}

std::string refused_price(const std::string& price, const std::set<std::string>& skus_of_runs) {
  SkuCatalogue own = catalogue();
  try {
    set_prices(own, std::vector{price}, skus_of_runs);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    return error.message();
  }
  return "";
}

TEST(SkuCheck, APriceIsOfASkuThatARunHas) {
  EXPECT_EQ(refused_price("ND40rs_v2=1", {"Standard_ND40rs_v2"}), "");
  EXPECT_EQ(refused_price("standard_nd40RS_v2=1", {"ND40rs_v2"}), "") << "an import may have the short name";
  EXPECT_EQ(refused_price("rack-7=1", {"Rack-7"}), "") << "not in the catalogue";
  EXPECT_TRUE(contains(refused_price("ND40rs_v3=1", {"Standard_ND40rs_v2", "rack-7"}), "\"ND40rs_v3\"; did you mean ND40rs_v2?"));
  EXPECT_TRUE(contains(refused_price("DGX1V=10", {"Standard_ND40rs_v2", "rack-7"}),
                       "--price DGX1V=10: none of the runs is on the SKU \"DGX1V\"; they are on Standard_ND40rs_v2, rack-7"));
  EXPECT_TRUE(contains(refused_price("p4d.24xlarge=10", {"rack-7"}), "they are on rack-7")) << "known, but without effect";
  EXPECT_TRUE(contains(refused_price("p4d.24xlarge=10", {}), "they name no SKU (--sku)"));
}

TEST(SkuCheck, AMachineMayContradictIt) {
  const std::vector<std::string> a100(8, "NVIDIA A100-SXM4-40GB");
  EXPECT_TRUE(contradictions(sku("ND96asr_v4"), {a100, true, 96, "standard_nd96asr_v4"}).empty());
  EXPECT_TRUE(contains(contradictions(sku("ND96asr_v4"), {{}, true, 96, ""}).at(0), "has 8 GPUs, but this machine has no GPU"));
  EXPECT_TRUE(contains(contradictions(sku("ND96isr_H100_v5"), {a100, true, 96, ""}).at(0), "H100 SXM, but this machine has NVIDIA A100"));
  EXPECT_TRUE(contains(contradictions(sku("ND40rs_v2"), {{}, false, 96, "Standard_ND96asr_v4"}).at(0), "says that it is Standard_ND96asr_v4"));
  EXPECT_TRUE(contains(contradictions(sku("ND40rs_v2"), {{}, false, 96, ""}).at(0), "40 cores, but this machine has 96"));
}

TEST(SkuCheck, RatesAreOfANodeAndOfAGpu) {
  EXPECT_DOUBLE_EQ(*sku("ND96asr_v4").rdma_gbps, 1600);
  EXPECT_DOUBLE_EQ(*sku("ND96asr_v4").rdma_gbps_per_gpu(), 200);
  EXPECT_FALSE(sku("HC44rs").rdma_gbps_per_gpu());
  EXPECT_DOUBLE_EQ(*sku("ND96asr_v4").cores, 96);
  EXPECT_DOUBLE_EQ(*sku("ND96asr_v4").memory_gib, 900);
  for (const Sku& each : catalogue().skus()) {
    EXPECT_TRUE(each.cores && each.memory_gib) << each.name;
    EXPECT_EQ(bool(each.spot_price_usd_per_h), bool(each.preemptions_per_h)) << each.name;
    if (each.spot_price_usd_per_h) { EXPECT_FALSE(each.spot_source.date.empty()) << each.name; }
  }
}

}  // namespace
}  // namespace ddbench::analyzer
