// What the workloads need, against the published numbers.
#include <gtest/gtest.h>

#include "core/error.h"
#include "harness/model/architectures/registry.h"

namespace ddbench::workload {
namespace {

std::int64_t parameters(const std::string& name, const WorkloadOptions& options = {}) {
  return parameter_count(*make_workload(name, options));
}

double forward_flops(const std::string& name, const WorkloadOptions& options = {}) {
  double flops = 0;
  for (const LayerFlops& layer : make_workload(name, options)->layer_flops()) flops += layer.forward;
  return flops;
}

TEST(Sizes, ParametersAreThosePublished) {
  EXPECT_EQ(parameters("resnet18"), 11'689'512);  // torchvision
  EXPECT_EQ(parameters("resnet50"), 25'557'032);
  EXPECT_EQ(parameters("gpt2-124m"), 124'439'808);  // OpenAI's checkpoints
  EXPECT_EQ(parameters("gpt2-355m"), 354'823'168);
  EXPECT_EQ(parameters("gpt2-774m"), 774'030'080);
  EXPECT_EQ(parameters("gpt2-1558m"), 1'557'611'200);
  EXPECT_EQ(parameters("bert-base"), 109'514'298);  // BertForMaskedLM, uncased
  EXPECT_EQ(parameters("bert-large"), 335'174'458);
}

TEST(Sizes, OptionsChangeParametersAsTheyShould) {
  EXPECT_EQ(parameters("resnet18", {{"image", "32"}}), 11'173'962);  // the usual one of CIFAR-10
  EXPECT_EQ(parameters("resnet50", {{"image", "32"}}), 23'520'842);
  EXPECT_EQ(parameters("resnet50", {{"classes", "10"}}), 25'557'032 - 990 * 2049);
  EXPECT_EQ(parameters("gpt2-124m", {{"sequence", "64"}}), 124'439'808);
  EXPECT_EQ(parameters("gpt2-124m", {{"sequence", "2048"}}), 124'439'808 + 1024 * 768);
  EXPECT_EQ(parameters("gpt2-nano"), (65 + 64) * 128 + 4 * (12 * 128 * 128 + 13 * 128) + 2 * 128);
}

TEST(Sizes, FlopsAreThosePublished) {
  EXPECT_NEAR(forward_flops("resnet18"), 2 * 1.814e9, 2 * 0.005e9);  // torchvision: 1.81 GMAC
  EXPECT_NEAR(forward_flops("resnet50"), 2 * 4.089e9, 2 * 0.005e9);  // torchvision: 4.09 GMAC
  EXPECT_NEAR(forward_flops("resnet18", {{"image", "32"}}), 2 * 0.5555e9, 2 * 0.002e9);
  // Backward has both products again, but for the gradient of the image.
  const auto resnet = make_workload("resnet50", {});
  EXPECT_EQ(resnet->flops_per_sample(), 3 * forward_flops("resnet50") - resnet->layer_flops()[0].forward);
}

TEST(Sizes, FlopsOfATransformerAreSixPerParameterAndToken) {
  // 6 N + 12 L C T a token (Chowdhery et al. 2022, appendix B), N without positions, biases and norms.
  const double n = 50'257.0 * 768 + 12.0 * 12 * 768 * 768;
  const auto gpt2 = make_workload("gpt2-124m", {});
  EXPECT_NEAR(gpt2->flops_per_sample(), 1024 * (6 * n + 12.0 * 12 * 768 * 1024), 1e6);
  EXPECT_NEAR(gpt2->hardware_flops_per_sample() - gpt2->flops_per_sample(), 1024 * 2.0 * 12 * 768 * 1024,
              1e6);
}

TEST(Sizes, ActivationsGrowWithTheBatchAndShrinkWithTheirType) {
  for (const char* name : {"resnet18", "gpt2-nano", "bert-base"}) {
    const auto workload = make_workload(name, {});
    const auto bytes = [&](std::int64_t batch, device::DataType precision = device::DataType::kFloat32) {
      return static_cast<double>(workload->activation_bytes(batch, precision));
    };
    EXPECT_GT(bytes(2), 1.8 * bytes(1)) << name;
    EXPECT_LE(bytes(2), 2 * bytes(1) + 4096) << name;
    const auto weights = 2.0 * static_cast<double>(parameter_count(*workload));
    EXPECT_NEAR(bytes(16, device::DataType::kBfloat16), 0.5 * bytes(16) + weights, 0.08 * bytes(16)) << name;
  }
}

TEST(Sizes, RecomputedBlocksKeepWhatLeavesThemAndCostAForwardPass) {
  for (const char* name : {"gpt2-124m", "bert-base", "resnet50"}) {
    const auto plain = make_workload(name, {});
    const auto recomputed = make_workload(name, {{"recompute", "blocks"}});
    EXPECT_LT(recomputed->activation_bytes(8), 0.55 * static_cast<double>(plain->activation_bytes(8))) << name;
    EXPECT_EQ(recomputed->flops_per_sample(), plain->flops_per_sample()) << name;
    const double again = recomputed->hardware_flops_per_sample() - plain->hardware_flops_per_sample();
    EXPECT_GT(again, 0.4 * forward_flops(name)) << name;
    EXPECT_LT(again, forward_flops(name)) << name;
  }
}

TEST(Sizes, WhatIsNoModelIsRefused) {
  const auto refused = [](const char* name, const WorkloadOptions& options) {
    EXPECT_THROW(make_workload(name, options), Error) << name << " with " << options.begin()->first;
  };
  refused("resnet18", {{"image", "64"}});
  refused("resnet18", {{"classes", "-1"}});
  refused("gpt2-nano", {{"heads", "3"}});
  refused("gpt2-nano", {{"sequence", "0"}});
  refused("gpt2-nano", {{"layers", "two"}});
  refused("gpt2-nano", {{"recompute", "some"}});
  refused("mlp", {{"recompute", "blocks"}});
  refused("bert-base", {{"hidden", "100"}});
  refused("bert-base", {{"size", "large"}});
  EXPECT_THROW(activation_type("fp8"), Error);
}

}  // namespace
}  // namespace ddbench::workload
