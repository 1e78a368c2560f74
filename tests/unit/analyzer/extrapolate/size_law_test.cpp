#include "analyzer/extrapolate/size_law.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "analyzer/statistics/statistics.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

using StepTime = std::function<double(double gpus_per_node, double nodes)>;

SizeRate size_of(int nodes, int gpus_per_node, double batch, double step) {
  SizeRate size;
  size.shape = {nodes, gpus_per_node};
  size.batch_per_gpu = batch;
  size.samples_per_s = {size.shape.gpus() * batch / step};
  return size;
}

std::vector<SizeRate> measured(const std::vector<ClusterShape>& shapes, double batch, const StepTime& step) {
  std::vector<SizeRate> sizes;
  for (const ClusterShape& shape : shapes)
    sizes.push_back(size_of(shape.nodes, shape.gpus_per_node, batch, step(shape.gpus_per_node, shape.nodes)));
  return sizes;
}

Measured<SizePrediction> predict(const std::vector<SizeRate>& sizes, ClusterShape shape, double batch = 64) {
  SizeQuestion question;
  question.shape = shape;
  question.batch_per_gpu = batch;
  return predict_size(sizes, question);
}

double two_tiers(double g, double k) {
  return 0.001 * (10 + 0.5 * (g - 1) / g + 6 * (k - 1) / k);
}

const std::vector<ClusterShape> kToFourNodes = {{1, 1}, {1, 2}, {1, 4}, {1, 8}, {2, 8}, {4, 8}};

TEST(SizeLaw, TwoTiersArePredictedWhereBothWereMeasured) {
  for (const std::size_t known : {std::size_t{5}, std::size_t{6}}) {
    const std::vector<ClusterShape> shapes(kToFourNodes.begin(), kToFourNodes.begin() + static_cast<long>(known));
    const auto found = predict(measured(shapes, 64, two_tiers), {32, 8});
    ASSERT_TRUE(found) << found.reason();
    const double truth = 256 * 64 / two_tiers(8, 32);  // 1,008,246 samples/s
    EXPECT_NEAR(truth, 1'008'246, 1);
    EXPECT_NEAR(found->samples_per_s / truth, 1, 0.02);
    EXPECT_LT(found->interval.low, truth);
    EXPECT_GT(found->interval.high, truth);
    EXPECT_EQ(found->models.front().name, "(n-1)/n");
    EXPECT_TRUE(found->extrapolated);
  }
}

TEST(SizeLaw, ATierThatWasNotMeasuredIsRefused) {
  const auto one_node = measured({{1, 1}, {1, 2}, {1, 4}, {1, 8}}, 64, two_tiers);
  const auto second = predict(one_node, {2, 8});
  ASSERT_FALSE(second);
  EXPECT_NE(second.reason().find("measure two or more nodes"), std::string::npos) << second.reason();
  EXPECT_TRUE(predict(one_node, {1, 16}));  // a larger node is of the tier that was measured
  const auto network = measured({{1, 8}, {2, 8}, {4, 8}}, 64, two_tiers);
  const auto other_nodes = predict(network, {8, 4});
  ASSERT_FALSE(other_nodes);
  EXPECT_NE(other_nodes.reason().find("no run used nodes of 4 GPUs"), std::string::npos) << other_nodes.reason();
  EXPECT_FALSE(predict(measured({{4, 8}}, 64, two_tiers), {8, 8}));
  EXPECT_FALSE(predict(measured({{1, 1}}, 64, two_tiers), {1, 2}));
}

TEST(SizeLaw, TheNetworkMayBeMeasuredOnOtherNodes) {
  const auto sizes = measured({{1, 1}, {1, 2}, {1, 4}, {2, 1}, {4, 1}, {8, 1}}, 64, two_tiers);
  const auto found = predict(sizes, {16, 4});
  ASSERT_TRUE(found) << found.reason();
  EXPECT_NEAR(found->samples_per_s * two_tiers(4, 16) / (64 * 64), 1, 0.05);
}

TEST(SizeLaw, GpusThatKeepTheirRateAreSaidExactly) {
  const auto found = predict(measured(kToFourNodes, 64, [](double, double) { return 0.02; }), {64, 8});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->samples_per_s, 64 * 8 * 64 / 0.02, 1e-3);
  double weights = 0;
  for (const SizeModel& model : found->models) weights += model.weight;
  EXPECT_NEAR(weights, 1, 1e-12);
}

TEST(SizeLaw, StepsOfATreeAreFoundWhereSizesJudgeThem) {
  const auto tree = [](double, double k) { return 0.01 * (1 + 0.05 * std::log2(k)); };
  const auto found = predict(measured({{1, 1}, {2, 1}, {4, 1}, {8, 1}, {16, 1}, {32, 1}}, 64, tree), {128, 1});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->models.front().name, "log2 n");
  EXPECT_NEAR(found->samples_per_s * tree(1, 128) / (128 * 64), 1, 0.02);
  EXPECT_NEAR(*found->models.front().error, 0, 1e-12);
}

TEST(SizeLaw, SmallSizesOfAnotherRegimeDoNotBendTheLargeOnes) {
  // One GPU alone runs another code path; from 8 GPUs on the law holds.
  const auto step = [](double, double k) { return k < 8 ? 0.002 * k : 0.01 * (1 + (k - 1) / k); };
  const auto found = predict(measured({{1, 1}, {2, 1}, {8, 1}, {16, 1}, {32, 1}, {64, 1}}, 64, step), {128, 1});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->samples_per_s * step(1, 128) / (128 * 64), 1, 0.01);
}

double weight_of(const SizePrediction& prediction, const char* name) {
  for (const SizeModel& model : prediction.models) {
    if (model.name == name) return model.weight;
  }
  return 0;
}

TEST(SizeLaw, WhatAllGpusOfANodeShareGoesOnCostingTime) {
  // Published GPUs 1, 4, 8 of a node that share their host: 1, 0.80 and 0.65 of the rate of one alone.
  const auto step = [](double g, double) { return 0.01 * (1 + 0.075 * (g - 1)); };
  const auto few = predict(measured({{1, 1}, {1, 4}}, 64, step), {1, 8});
  ASSERT_TRUE(few);
  EXPECT_GT(few->interval.high, 8 * 64 / step(8, 1));
  EXPECT_LT(few->interval.low, 8 * 64 / step(8, 1));
  const auto judged = predict(measured({{1, 1}, {1, 2}, {1, 4}, {1, 8}}, 64, step), {1, 16});
  ASSERT_TRUE(judged);
  EXPECT_EQ(judged->models.front().name, "n-1");
  EXPECT_NEAR(judged->samples_per_s * step(16, 1) / (16 * 64), 1, 0.01);
  // A node that loses little rarely shares its host's limit.
  const auto little =
      predict(measured({{1, 1}, {1, 4}}, 64, [](double g, double) { return g > 1 ? 0.0101 : 0.01; }), {1, 8});
  EXPECT_LT(weight_of(*little, "n-1"), 0.05);
  EXPECT_GT(weight_of(*few, "n-1"), 0.1);
}

TEST(SizeLaw, ASizeThatIsFasterThanASmallerOneMakesNoLargerOneFasterStill) {
  // One GPU alone with a slower kernel, as some published curves have it.
  const auto found =
      predict(measured({{1, 1}, {1, 4}}, 64, [](double g, double) { return g > 1 ? 0.0088 : 0.01; }), {1, 8});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->samples_per_s, 8 * 64 / 0.0088, 1e-6);
}

TEST(SizeLaw, LinksOfANodeThatCostNothingDoNotMakeTheNetworkFree) {
  const auto step = [](double, double k) { return 0.01 * (1 + 0.1 * (k - 1) / k); };
  const auto found = predict(measured({{1, 1}, {1, 2}, {1, 4}, {1, 8}, {2, 8}}, 64, step), {8, 8});
  ASSERT_TRUE(found);
  EXPECT_GE(weight_of(*found, "(n-1)/n"), weight_of(*found, "keeps its rate") * 0.999);
  EXPECT_NEAR(found->samples_per_s * step(8, 8) / (64 * 64), 1, 0.025);
}

TEST(SizeLaw, StrongScalingSharesTheStepsOverheadByFewerSamples) {
  // 1 ms a sample, 10 ms of ring a step, 1,024 samples a step in all.
  const auto step = [](double k) { return 0.001 * 1024 / k + 0.010 * (k - 1) / k; };
  std::vector<SizeRate> sizes;
  for (const int k : {1, 2, 4, 8, 16}) sizes.push_back(size_of(k, 1, 1024.0 / k, step(k)));
  const auto found = predict(sizes, {64, 1}, 16);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->samples_per_s * step(64) / 1024, 1, 0.01);
}

TEST(SizeLaw, ASizeBetweenMeasuredOnesLiesBetweenThem) {
  const auto sizes = measured(kToFourNodes, 64, two_tiers);
  const auto same = predict(sizes, {2, 8});
  ASSERT_TRUE(same);
  EXPECT_NEAR(same->samples_per_s * two_tiers(8, 2) / (16 * 64), 1, 1e-12);
  const auto between = predict(sizes, {3, 8});
  ASSERT_TRUE(between);
  EXPECT_NEAR(between->samples_per_s * two_tiers(8, 3) / (24 * 64), 1, 0.02);
  EXPECT_FALSE(between->extrapolated);
}

TEST(SizeLaw, AModelOverSeveralGpusIsOneMemberOfItsAllReduce) {
  // Nodes of 8 hold one copy: nothing grows inside of a node, and the ring is one of nodes.
  const auto step = [](double, double k) { return 0.1 + 0.02 * (k - 1) / k; };
  SizeQuestion question;
  question.shape = {64, 8};
  question.model_parallel = 8;
  const auto found = predict_size(measured({{1, 8}, {2, 8}, {4, 8}, {8, 8}, {16, 8}}, 1, step), question);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->samples_per_s * step(8, 64) / (64 * 8), 1, 0.002);
}

TEST(SizeLaw, NoiseOfRepeatedRunsWidensTheInterval) {
  auto sizes = measured(kToFourNodes, 64, two_tiers);
  const double alone = predict(sizes, {8, 8})->interval.high / predict(sizes, {8, 8})->samples_per_s;
  const double rate = sizes.back().samples_per_s.front();
  sizes.back().samples_per_s = {rate * 0.8, rate * 1.25};
  const auto noisy = predict(sizes, {8, 8});
  EXPECT_GT(noisy->interval.high / noisy->samples_per_s, alone * 1.05);
}

TEST(SizeLaw, AMeasuredSizeIsNotBetterKnownFromALawThanFromItsRuns) {
  auto sizes = measured({{1, 1}, {1, 2}, {1, 4}}, 64, two_tiers);
  for (SizeRate& size : sizes) {
    const double rate = size.samples_per_s.front();
    size.samples_per_s = {rate * 0.95, rate, rate * 1.05};
  }
  const Estimate runs = *mean_of_runs(sizes.back().samples_per_s);
  const auto found = predict(sizes, {1, 4});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->samples_per_s, runs.value, 1e-6);
  EXPECT_LE(found->interval.low, runs.interval.low);
  EXPECT_GE(found->interval.high, runs.interval.high);
}

TEST(SizeLaw, NoiseOfTheSmallerSizeBendsTheSlope) {
  const auto half_width = [](double noise) {
    auto sizes = measured({{1, 1}, {1, 2}, {1, 4}}, 64, two_tiers);
    const double rate = sizes[1].samples_per_s.front();
    sizes[1].samples_per_s = {rate / (1 + noise), rate, rate * (1 + noise)};
    const auto found = predict(sizes, {1, 8});
    return std::log(found->interval.high / found->samples_per_s);
  };
  EXPECT_GT(half_width(0.1), half_width(0.001) + 0.02);
}

TEST(SizeLaw, ASizeOfFewRunsScattersAsTheOthersDo) {
  auto sizes = measured(kToFourNodes, 64, two_tiers);
  const double alone = predict(sizes, {4, 8})->interval.high;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    const double rate = sizes[i].samples_per_s.front();
    sizes[i].samples_per_s = {rate / 1.05, rate, rate * 1.05};
  }
  const auto one_run = predict(sizes, {4, 8});
  EXPECT_GT(one_run->interval.high, alone * 1.05);  // that of one run of 5%
  const double rate = sizes.back().samples_per_s.front();
  sizes.back().samples_per_s = {rate, rate};  // two that happen to agree are no evidence
  const auto two_runs = predict(sizes, {4, 8});
  EXPECT_LT(two_runs->interval.high, one_run->interval.high);
  EXPECT_GT(two_runs->interval.high, alone * 1.03);
}

TEST(SizeLaw, PlacementsOfAsManyGpusAreOneSizeWhereThereIsOneTier) {
  const auto rate = [](ClusterShape shape, double samples_per_s) { return SizeRate{shape, 1, {samples_per_s}}; };
  std::vector<SizeRate> sizes = {rate({1, 1}, 100), rate({1, 2}, 190), rate({1, 4}, 360), rate({1, 8}, 680)};
  SizeQuestion question;
  question.shape = {1, 32};
  question.one_tier = true;
  const auto one_placement = predict_size(sizes, question);
  ASSERT_TRUE(one_placement);
  EXPECT_NEAR(one_placement->samples_per_s, 2482, 1);
  sizes.push_back(rate({2, 4}, 680));
  EXPECT_NEAR(predict_size(sizes, question)->samples_per_s, one_placement->samples_per_s, 1e-9);
  sizes.back().samples_per_s = {660};
  const auto slower = predict_size(sizes, question);
  EXPECT_EQ(slower->models.size(), one_placement->models.size());
  EXPECT_LT(slower->samples_per_s, one_placement->samples_per_s);
  question.shape = {2, 4};
  EXPECT_NEAR(predict_size(sizes, question)->samples_per_s, std::sqrt(660.0 * 680.0), 1e-9);
}

TEST(SizeLaw, ValuesThatCannotBeAreRefused) {
  for (const double wrong : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    auto sizes = measured(kToFourNodes, 64, two_tiers);
    sizes[2].samples_per_s = {wrong};
    EXPECT_THROW(predict(sizes, {8, 8}), Error);
    EXPECT_THROW(predict(measured(kToFourNodes, 64, two_tiers), {8, 8}, wrong), Error);
  }
  EXPECT_THROW(predict({}, {8, 8}), Error);
}

}  // namespace
}  // namespace ddbench::analyzer
