#include "analyzer/catalogue/sku_catalogue.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "core/error.h"
#include "text.h"

namespace ddbench::analyzer {
namespace {

using test::contains;

const Sku& sku_of(const SkuCatalogue& catalogue, std::string_view name) {
  const Sku* const found = catalogue.find_sku(name);
  if (found == nullptr) throw Error(ErrorCode::kBadInput, "no such SKU");
  return *found;
}

std::string message_of(const std::string& toml) {
  SkuCatalogue catalogue = SkuCatalogue::builtin();
  try {
    catalogue.apply(toml, "mine.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    return error.message();
  }
  return "";
}

TEST(SkuCatalogue, TheBuiltInOneHasItsFigures) {
  const SkuCatalogue catalogue = SkuCatalogue::builtin();
  EXPECT_EQ(catalogue.skus().size(), 28u);
  EXPECT_EQ(catalogue.gpus().size(), 13u);
  const Sku& nd96 = sku_of(catalogue, "standard_nd96asr_v4");
  EXPECT_EQ(nd96.gpus, 8);
  EXPECT_EQ(nd96.gpu, "A100 SXM 40GB");
  EXPECT_DOUBLE_EQ(*nd96.price_usd_per_h, 27.197);
  EXPECT_DOUBLE_EQ(*nd96.rdma_gbps, 1600);
  EXPECT_DOUBLE_EQ(*nd96.ethernet_gbps, 24);
  EXPECT_EQ(nd96.price_source.date, "2022");
  EXPECT_DOUBLE_EQ(*sku_of(catalogue, "p5.48xlarge").price_usd_per_h, 55.04);
}

TEST(SkuCatalogue, WhatIsNotVerifiedSaysSo) {
  const SkuCatalogue catalogue = SkuCatalogue::builtin();
  EXPECT_FALSE(catalogue.find_gpu("V100 SXM2")->source.verified);
  EXPECT_TRUE(catalogue.find_gpu("H100 SXM")->source.verified);
  EXPECT_FALSE(sku_of(catalogue, "a2-highgpu-8g").source.verified);
  EXPECT_FALSE(sku_of(catalogue, "a2-highgpu-8g").price_usd_per_h);
}

TEST(SkuCatalogue, PeaksByPrecisionAndTheReasonWithoutOne) {
  const SkuCatalogue catalogue = SkuCatalogue::builtin();
  EXPECT_DOUBLE_EQ(*catalogue.peak_tflops("Standard_ND96isr_H100_v5", "bf16"), 989);
  EXPECT_TRUE(
      contains(catalogue.peak_tflops("Standard_ND40rs_v2", "bf16").reason(), "no bf16 peak of V100 SXM2"));
  EXPECT_TRUE(
      contains(catalogue.peak_tflops("Standard_NC40ads_H100_v5", "bf16").reason(), "no peaks of H100 NVL"));
  EXPECT_TRUE(contains(catalogue.peak_tflops("Standard_HC44rs", "fp32").reason(), "has no GPU"));
  EXPECT_TRUE(contains(catalogue.peak_tflops("", "fp32").reason(), "--sku"));
  EXPECT_TRUE(contains(catalogue.peak_tflops("moon", "fp32").reason(), "\"moon\""));
}

TEST(SkuCatalogue, UtilisationOfAKnownModel) {
  // 7e9 parameters, 4 tokens/s a GPU on 8 GPUs of 312 TFLOP/s ... 6 P tokens/s = 1.344e12 of 2496e12.
  EXPECT_NEAR(flops_utilization(32, 6 * 7e9, 8, 312), 32 * 42e9 / (8 * 312e12), 1e-12);
  EXPECT_THROW(flops_utilization(0, 1, 1, 1), Error);
}

TEST(SkuCatalogue, AUserFileChangesTheFieldsItNames) {
  SkuCatalogue catalogue = SkuCatalogue::builtin();
  catalogue.apply(R"(
[[gpu]]
name = "MI300X"
peak_tflops = { bf16 = 1307, fp8 = 2614.9 }
[[sku]]
name = "STANDARD_ND96ASR_V4"
price_usd_per_h = 20
spot_price_usd_per_h = 8.5
[[sku]]
name = "own-rack"
gpu = "MI300X"
gpus = 8
)",
                  "mine.toml");
  const Sku& nd96 = sku_of(catalogue, "Standard_ND96asr_v4");
  EXPECT_DOUBLE_EQ(*nd96.price_usd_per_h, 20);
  EXPECT_EQ(nd96.price_source.name, "mine.toml");
  EXPECT_DOUBLE_EQ(*nd96.spot_price_usd_per_h, 8.5);
  EXPECT_EQ(nd96.gpus, 8);
  EXPECT_DOUBLE_EQ(*catalogue.peak_tflops("own-rack", "fp8"), 2614.9);
  EXPECT_EQ(catalogue.skus().size(), 29u);
}

TEST(SkuCatalogue, MalformedFilesAreNamedByLineAndFieldAndChangeNothing) {
  EXPECT_TRUE(contains(message_of("[[sku]]\nname = \"x\nprice"), "mine.toml:2"));
  EXPECT_TRUE(contains(message_of("[[sku]]\nname = \"x\"\nprice_usd_per_hour = 3\n"),
                       "mine.toml:3: sku x: has no field \"price_usd_per_hour\""));
  EXPECT_TRUE(contains(message_of("[[sku]]\nname = \"x\"\nprice_usd_per_h = \"3\"\n"), "must be a number"));
  EXPECT_TRUE(contains(message_of("[[sku]]\nname = \"x\"\nprice_usd_per_h = -3\n"), "from 0"));
  EXPECT_TRUE(contains(message_of("[[sku]]\nname = \"x\"\nprice_usd_per_h = nan\n"), "nan"));
  EXPECT_TRUE(contains(message_of("[[sku]]\nname = \"x\"\nprice_usd_per_h = 1e300\n"), "from 0"));
  EXPECT_TRUE(contains(message_of("[[sku]]\nprice_usd_per_h = 3\n"), "has no name"));
  EXPECT_TRUE(contains(message_of("[[sku]]\nname = \"x\"\ngpu = \"Z9\"\n"), "\"Z9\""));
  EXPECT_TRUE(contains(message_of("[[sku]]\nname = \"x\"\ngpus = 2.5\n"), "whole number"));
  EXPECT_TRUE(contains(message_of("[sku]\nname = \"x\"\n"), "[[sku]]"));
  EXPECT_TRUE(contains(message_of("price = 3\n"), "\"price\" is not known"));
  EXPECT_TRUE(contains(message_of("[[gpu]]\nname = \"x\"\npeak_tflops = { fp32 = 0 }\n"), "above 0"));
  SkuCatalogue catalogue = SkuCatalogue::builtin();
  EXPECT_THROW(catalogue.apply("[[sku]]\nname = \"new\"\n[[sku]]\nname = \"x\"\nwrong = 1\n", "mine.toml"),
               Error);
  EXPECT_EQ(catalogue.find_sku("new"), nullptr);
}

TEST(SkuCatalogue, PricesFromTheCommandLine) {
  SkuCatalogue catalogue = SkuCatalogue::builtin();
  catalogue.set_price("p4d.24xlarge=10.5,spot=4,preemptions=0.05");
  EXPECT_DOUBLE_EQ(*sku_of(catalogue, "p4d.24xlarge").price_usd_per_h, 10.5);
  EXPECT_DOUBLE_EQ(*sku_of(catalogue, "p4d.24xlarge").spot_price_usd_per_h, 4);
  EXPECT_DOUBLE_EQ(*sku_of(catalogue, "p4d.24xlarge").preemptions_per_h, 0.05);
  const std::size_t known = catalogue.skus().size();
  catalogue.set_price("nd40rs_v2=1");
  EXPECT_DOUBLE_EQ(*sku_of(catalogue, "Standard_ND40rs_v2").price_usd_per_h, 1) << "a short name is the SKU's";
  EXPECT_EQ(catalogue.skus().size(), known);
  catalogue.set_price("lab=1");
  EXPECT_DOUBLE_EQ(*sku_of(catalogue, "lab").price_usd_per_h, 1);
  for (const char* wrong :
       {"", "x", "=3", "x=", "x=abc", "x=-1", "x=nan", "x=1e9", "x=1,spot", "x=1,spot=a", "x=1;2"}) {
    EXPECT_THROW(catalogue.set_price(wrong), Error) << wrong;
  }
}

TEST(SkuCatalogue, AFileThatCannotBeReadIsNamed) {
  try {
    SkuCatalogue::load("/nowhere/skus.toml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(contains(error.message(), "/nowhere/skus.toml"));
  }
  EXPECT_THROW(SkuCatalogue::load(std::filesystem::temp_directory_path()), Error);
}

}  // namespace
}  // namespace ddbench::analyzer
