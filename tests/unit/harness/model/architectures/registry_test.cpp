#include <gtest/gtest.h>

#include "core/error.h"
#include "harness/model/architectures/registry.h"

namespace ddbench::workload {
namespace {

void expect_refused(std::string_view name, const WorkloadOptions& options, const std::string& part) {
  try {
    make_workload(name, options);
    FAIL() << "was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_NE(error.message().find(part), std::string::npos) << part << " is not in: " << error.message();
  }
}

TEST(Registry, EveryWorkloadIsDescribedAndCanBeMadeWithItsDefaults) {
  for (const WorkloadInfo& info : workloads()) {
    EXPECT_FALSE(info.description.empty()) << info.name;
    WorkloadOptions defaults;
    for (const OptionInfo& option : info.options) {
      EXPECT_FALSE(option.meaning.empty()) << option.name;
      defaults[option.name] = option.default_value;
    }
    EXPECT_EQ(parameter_count(*make_workload(info.name, {})),
              parameter_count(*make_workload(info.name, defaults)));
  }
}

TEST(Registry, UnknownNamesAreAnsweredWithWhatThereIs) {
  expect_refused("resnet9000", {},
                 "workload \"resnet9000\" is not known; workloads: mlp, resnet18, resnet50, gpt2-nano, ");
  expect_refused("mlp", {{"width", "3"}}, "workload mlp has no option \"width\"; options: hidden");
}

TEST(Mlp, DefaultIsThatOfTheTutorials) {
  const auto mlp = make_workload("mlp", {});
  EXPECT_EQ(parameter_count(*mlp), 669'706);
  EXPECT_EQ(gradient_bytes(*mlp), 2'678'824);
  EXPECT_EQ(mlp->flops_per_sample(), 2.0 * (2 * 784 * 512 + 3 * 512 * 512 + 3 * 512 * 10));
  const std::vector<ParameterSpec> specs = mlp->parameters();
  ASSERT_EQ(specs.size(), 6U);
  EXPECT_EQ(specs[0].name, "layer0.weight");
  EXPECT_EQ(specs[0].rows, 512);
  EXPECT_EQ(specs[0].columns, 784);
  EXPECT_EQ(specs[5].name, "layer2.bias");
  EXPECT_EQ(specs[5].rows, 1);
  EXPECT_EQ(specs[5].columns, 10);
  EXPECT_EQ(specs[5].fan_in, 512);
}

TEST(Mlp, HiddenLayersAreAdjustable) {
  EXPECT_EQ(parameter_count(*make_workload("mlp", {{"hidden", "3"}})), 784 * 3 + 3 + 3 * 10 + 10);
  EXPECT_EQ(parameter_count(*make_workload("mlp", {{"hidden", ""}})), 784 * 10 + 10);
  for (const char* wrong :
       {"0", "-3", "65537", "512,", ",512", "512;512", "5.5", "wide", " 512", "99999999999999999999"}) {
    expect_refused("mlp", {{"hidden", wrong}}, "hidden \"" + std::string(wrong) + "\" is not allowed");
  }
  std::string many = "1";
  for (int i = 0; i < 64; ++i) many += ",1";
  expect_refused("mlp", {{"hidden", many}}, "up to 64 widths");
}

TEST(Mlp, DataOfAnotherSizeOrNoDataIsRefused) {
  const auto mlp = make_workload("mlp", {});
  EXPECT_EQ(mlp->make_dataset("synthetic", 1)->shape(), mlp->sample());
  EXPECT_THROW(mlp->make_dataset("/nowhere/at/all", 1), Error);
}

}  // namespace
}  // namespace ddbench::workload
