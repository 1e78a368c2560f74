#include "analyzer/predict/predict_run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "analyzer/predict/back_test.h"
#include "step_events.h"

namespace ddbench::analyzer {
namespace {

TEST(PredictStep, StepsWithoutCollectivesDoNotShowWhatRanksWouldSend) {
  StepRecording alone = recording({1, 1}, {two_buckets(100, 50, 7)}, {50, 60});
  alone.collectives.clear();
  for (RecordedStep& step : alone.steps) {
    step.transfer_ns.clear();
    std::erase_if(step.ranks[0].events, [](const StepEvent& event) { return event.action != StepAction::kWork; });
    step.ranks[0].start_delay_ns.clear();
    step.ranks[0].end_share.clear();
  }
  CollectiveCosts costs;
  costs.set_link({1e9, 1000.0});
  const auto two = predict_step(alone, costs, {2, 1});
  ASSERT_FALSE(two);
  EXPECT_NE(two.reason().find("two ranks or more"), std::string::npos) << two.reason();
  EXPECT_TRUE(predict_step(alone, costs, {1, 1}));
}

TEST(PredictStep, MoreRanksThanAreReplayedAreAsSlowAsTheSlowestOfThem) {
  StepRecording steps = recording({1, 1}, {two_buckets(1000, 0, 0)}, {0, 0});
  for (std::uint32_t i = 0; i < 99; ++i) steps.steps.push_back({7 + 2 * i, {two_buckets(1000 + i, 0, 0)}, {0, 0}});
  CollectiveCosts costs;
  costs.set_link({1e9, 0.0});
  PredictOptions options;
  options.replicates = 2;
  const auto million = predict_step(steps, costs, {1'000'000, 1}, options);
  ASSERT_TRUE(million) << million.reason();
  EXPECT_EQ(million->shape.nodes, 1'000'000);
  // The slowest recorded step in every one, and twice 1,000 and 2,000 bytes at 1 byte/ns; replicates may lack the slowest block.
  EXPECT_NEAR(million->step_ns.value, 1097 + 6000, 4);
  EXPECT_DOUBLE_EQ(million->samples_per_s.value, 8 * 1e6 * 1e9 / million->step_ns.value);
  // Most ranks do 1,049 of work and wait for the slowest one too.
  EXPECT_NEAR(million->waited_ns, 6000 + 1097 - 1049, 6);
  const auto node = predict_step(steps, costs, {1, 70'000}, options);
  ASSERT_FALSE(node);
  EXPECT_NE(node.reason().find("several nodes"), std::string::npos) << node.reason();
}

TEST(PredictStep, TheErrorOfBackTestsWidensTheInterval) {
  StepRecording steps = recording({1, 2}, {two_buckets(100, 50, 7), two_buckets(100, 50, 7)}, {50, 60});
  for (RankStep& rank : steps.steps[0].ranks) rank.duration_ns = 217;  // as it is replayed
  PredictOptions options;
  const auto usual = predict_step(steps, {}, {1, 2}, options);
  options.model_error = 0.2;
  const auto wide = predict_step(steps, {}, {1, 2}, options);
  ASSERT_TRUE(usual && wide);
  EXPECT_DOUBLE_EQ(usual->step_ns.value, wide->step_ns.value);
  EXPECT_NEAR(std::log(wide->step_ns.interval.high / wide->step_ns.value), 1.96 * 0.2, 0.01);
  EXPECT_LT(usual->step_ns.interval.high, wide->step_ns.interval.high);
}

TEST(BackTest, FewSizesLeaveTheUsualErrorAndWidenIt) {
  // Without a size: four of the usual error; t(4) over 1.96.
  EXPECT_NEAR(model_error({0, 0}), kUsualModelError * 2.776445 / 1.959964, 1e-6);
  EXPECT_LT(model_error({0.01, 1}), model_error({0, 0}));
  EXPECT_GT(model_error({0.2, 1}), model_error({0, 0}));
  EXPECT_NEAR(model_error({0.03, 1000}), 0.03, 0.0005);
}

TEST(BackTest, IsTheRootMeanSquareOfLogarithms) {
  const auto size = [](double measured, double predicted) {
    ReplayedSize result{{2, 1}, measured};
    ReplayPrediction prediction;
    prediction.samples_per_s.value = predicted;
    result.predicted = prediction;
    return result;
  };
  EXPECT_FALSE(back_test({}));
  EXPECT_FALSE(back_test({{{1, 1}, 100}}));
  const auto tested = back_test({{{1, 1}, 100}, size(100, 110), size(100, 100 / 1.1)});
  ASSERT_TRUE(tested);
  EXPECT_EQ(tested->sizes, 2U);
  EXPECT_NEAR(tested->log_error, std::log(1.1), 1e-12);
}

}  // namespace
}  // namespace ddbench::analyzer
