#include "analyzer/catalogue/rated_link.h"

#include <gtest/gtest.h>

#include "analyzer/catalogue/sku_catalogue.h"
#include "text.h"

namespace ddbench::analyzer {
namespace {

using test::contains;

store::RunRecord run_on(const char* sku, const char* network) {
  store::RunRecord run;
  run.run_case.nodes = 2;
  run.run_case.gpus_per_node = 8;
  run.run_case.sku = sku;
  run.environment.network = network;
  run.provenance = {Provenance::kMeasured};
  return run;
}

TEST(RatedLink, ABusBandwidthIsAShareOfWhatANodeIsRatedAt) {
  const auto catalogue = SkuCatalogue::builtin();
  const auto link = rated_link(run_on("Standard_ND96asr_v4", "infiniband"), catalogue);
  ASSERT_TRUE(link);
  EXPECT_DOUBLE_EQ(link->gb_per_s, 200);  // 8 x 200 Gb/s
  const std::string words = achieved_in_words("all_reduce", 1e9, 160, *link);
  EXPECT_TRUE(contains(words, "160 GB/s of bus bandwidth, 80.0% of the 200 GB/s that a node of Standard_ND96asr_v4"));
  EXPECT_TRUE(contains(words, "1600 Gb/s a node, 200 a GPU"));
  EXPECT_TRUE(contains(achieved_in_words("all_reduce", 1e9, 250, *link), "SHARP"));
  EXPECT_DOUBLE_EQ(*share_of_link("all_gather", 50, *link), 0.25);
  EXPECT_FALSE(share_of_link("all_to_all", 50, *link));
  EXPECT_DOUBLE_EQ(rated_link(run_on("Standard_ND96asr_v4", "socket"), catalogue)->gb_per_s, 3);
}

TEST(RatedLink, WithoutARateTheReasonIsSaid) {
  const auto catalogue = SkuCatalogue::builtin();
  EXPECT_TRUE(contains(rated_link(run_on("", "infiniband"), catalogue).reason(), "--sku"));
  EXPECT_TRUE(contains(rated_link(run_on("Standard_NC24s_v3", "infiniband"), catalogue).reason(), "no RDMA rate"));
  EXPECT_TRUE(contains(rated_link(run_on("Standard_ND96asr_v4", "veth@1gbit"), catalogue).reason(), "veth@1gbit"));
  EXPECT_TRUE(rated_link(run_on("Standard_ND96asr_v4", "ib"), catalogue));
  EXPECT_TRUE(contains(rated_link(run_on("Standard_ND96asr_v4", ""), catalogue).reason(), "not proved"));
  store::RunRecord one_node = run_on("Standard_ND96asr_v4", "infiniband");
  one_node.run_case.nodes = 1;
  EXPECT_FALSE(rated_link(one_node, catalogue));
  store::RunRecord emulated = run_on("Standard_ND96asr_v4", "veth");
  emulated.provenance = {Provenance::kMeasured, Provenance::kEmulatedNetwork};
  EXPECT_TRUE(contains(rated_link(emulated, catalogue).reason(), "emulated"));
}

}  // namespace
}  // namespace ddbench::analyzer
