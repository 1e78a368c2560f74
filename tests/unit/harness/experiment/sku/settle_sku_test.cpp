#include "harness/experiment/sku/settle_sku.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "harness/experiment/sku/cloud_metadata.h"
#include "temporary_directory.h"
#include "text.h"

namespace ddbench::experiment {
namespace {

using test::contains;

RunCase on(const char* sku, int gpus) {
  RunCase run_case;
  run_case.sku = sku;
  run_case.gpus_per_node = gpus;
  return run_case;
}

TEST(SettleSku, NamesGetTheSpellingOfTheCatalogue) {
  const auto catalogue = analyzer::SkuCatalogue::builtin();
  RunCase run_case = on("nd96asr_v4", 8);
  EXPECT_TRUE(check_sku(run_case, catalogue, true).empty());
  EXPECT_EQ(run_case.sku, "Standard_ND96asr_v4");
  RunCase unknown = on("Standard_ND96asr_v5", 8);
  EXPECT_TRUE(contains(check_sku(unknown, catalogue, true).at(0), "did you mean Standard_ND96asr_v4?"));
  EXPECT_EQ(unknown.sku, "Standard_ND96asr_v5");
  RunCase too_many = on("Standard_NC24rs_v3", 8);
  EXPECT_THROW(check_sku(too_many, catalogue, true), Error);
  EXPECT_NO_THROW(check_sku(too_many, catalogue, false));  // ranks on cores
  RunCase none = on("", 8);
  EXPECT_TRUE(check_sku(none, catalogue, true).empty());
}

const auto kNotAsked = Measured<std::string>::missing("not asked");

TEST(SettleSku, AMachineThatContradictsItIsNamed) {
  const auto catalogue = analyzer::SkuCatalogue::builtin();
  host::Machine machine;
  machine.cores = 4;
  RunCase run_case = on("Standard_NC24rs_v3", 4);
  EXPECT_TRUE(contains(compare_with_machine(run_case, catalogue, machine, kNotAsked).at(0), "this machine has no GPU"));
  machine.gpus.resize(4);  // of which the models are not known
  EXPECT_TRUE(compare_with_machine(run_case, catalogue, machine, kNotAsked).empty());
  RunCase unnamed = on("", 1);
  EXPECT_TRUE(compare_with_machine(unnamed, catalogue, machine, kNotAsked).empty());
  EXPECT_EQ(unnamed.sku, "");
  machine.gpus.clear();
  EXPECT_TRUE(contains(compare_with_machine(unnamed, catalogue, machine, std::string("Standard_ND96asr_v4")).at(0), "8 GPUs"));
  EXPECT_EQ(unnamed.sku, "Standard_ND96asr_v4");
}

TEST(CloudMetadata, OnlyMachinesOfACloudAreAsked) {
  const test::TemporaryDirectory root;
  const auto dmi = root.path() / "sys/class/dmi/id";
  std::filesystem::create_directories(dmi);
  EXPECT_EQ(cloud_of_this_machine(root.path()), Cloud::kNone);
  EXPECT_TRUE(contains(sku_from_metadata(std::chrono::milliseconds(1), root.path()).reason(), "no machine of a cloud"));
  std::ofstream(dmi / "sys_vendor") << "Microsoft Corporation\n";
  EXPECT_EQ(cloud_of_this_machine(root.path()), Cloud::kNone);  // any machine of Hyper-V
  std::ofstream(dmi / "chassis_asset_tag") << "7783-7084-3265-9085-8269-3286-77\n";
  EXPECT_EQ(cloud_of_this_machine(root.path()), Cloud::kAzure);
  std::filesystem::remove(dmi / "chassis_asset_tag");
  std::ofstream(dmi / "sys_vendor") << "Amazon EC2\n";
  EXPECT_EQ(cloud_of_this_machine(root.path()), Cloud::kAws);
  std::ofstream(dmi / "sys_vendor") << "Google\n";
  EXPECT_EQ(cloud_of_this_machine(root.path()), Cloud::kGcp);
}

TEST(CloudMetadata, AServiceThatIsNoCloudsHasMoreTime) {
  ::setenv(kMetadataVariable, "http://127.0.0.1:9", 1);
  EXPECT_EQ(metadata_timeout(), std::chrono::seconds(10));
  ::unsetenv(kMetadataVariable);
  EXPECT_EQ(metadata_timeout(), std::chrono::seconds(1));
}

}  // namespace
}  // namespace ddbench::experiment
