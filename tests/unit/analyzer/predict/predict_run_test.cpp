#include "analyzer/predict/predict_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/predict/back_test.h"
#include "analyzer/predict/what_if_figure.h"
#include "analyzer/statistics/quantiles.h"
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
  steps.step_ns = 217;  // as it is replayed
  PredictOptions options;
  const auto usual = predict_step(steps, {}, {1, 2}, options);
  options.model_error = 0.2;
  const auto wide = predict_step(steps, {}, {1, 2}, options);
  ASSERT_TRUE(usual && wide);
  EXPECT_DOUBLE_EQ(usual->step_ns.value, wide->step_ns.value);
  EXPECT_NEAR(std::log(wide->step_ns.interval.high / wide->step_ns.value), 1.96 * 0.2, 0.01);
  EXPECT_LT(usual->step_ns.interval.high, wide->step_ns.interval.high);
}

/// Consecutive steps of two nodes with one GPU, whose work is `work_ns` of the step and the rank. The transfer takes no time.
StepRecording consecutive(const std::vector<std::vector<double>>& work_ns) {
  StepRecording steps = recording({2, 1}, {}, {0});
  steps.steps.clear();
  double last = 0;
  for (const std::vector<double>& ranks : work_ns) {
    RecordedStep step{static_cast<std::uint32_t>(steps.steps.size()), {}, {0}};
    for (const double ns : ranks) {
      step.ranks.emplace_back();
      step.ranks.back().events = {work(ns), issue(0), wait(0)};
      step.ranks.back().start_delay_ns = {0};
      step.ranks.back().end_share = {1};
    }
    last += *std::max_element(ranks.begin(), ranks.end());
    steps.steps.push_back(std::move(step));
  }
  steps.step_ns = last / static_cast<double>(work_ns.size());
  return steps;
}

CollectiveCosts free_network() {
  CollectiveCosts costs;
  costs.set_link({1e30, 0.0});
  return costs;
}

TEST(PredictStep, ConsecutiveStepsAreDrawnFromAllOfThem) {
  // The run becomes slower.
  std::vector<std::vector<double>> work_ns(246, {80, 80});
  for (std::size_t i = 64; i < work_ns.size(); ++i) work_ns[i] = {120, 120};
  const StepRecording steps = consecutive(work_ns);
  const auto as_it_was = predict_step(steps, {}, {2, 1});
  ASSERT_TRUE(as_it_was) << as_it_was.reason();
  EXPECT_DOUBLE_EQ(as_it_was->step_ns.value, (64 * 80 + 182 * 120) / 246.0);
  EXPECT_DOUBLE_EQ(as_it_was->replay_over_recorded, 1);
  const auto alone = predict_step(steps, {}, {1, 1});
  ASSERT_TRUE(alone) << alone.reason();
  EXPECT_NEAR(alone->step_ns.value / as_it_was->step_ns.value, 1, 0.03);
  EXPECT_NE(alone->replicates_ns.front(), alone->replicates_ns.back());
}

TEST(PredictStep, TheSlowestOfManyNodesIsThatOfIndependentSteps) {
  // N(100, 20), each quantile once, in no order.
  std::vector<std::vector<double>> work_ns(120, {0, 0});
  std::mt19937 random(5);
  for (const std::size_t rank : {0U, 1U}) {
    std::vector<double> normal;
    for (int i = 0; i < 120; ++i) normal.push_back(100 + 20 * t_quantile((i + 0.5) / 120, 1e9));
    std::shuffle(normal.begin(), normal.end(), random);
    for (std::size_t i = 0; i < normal.size(); ++i) work_ns[i][rank] = normal[i];
  }
  const StepRecording steps = consecutive(work_ns);
  double before = 0;
  for (const int nodes : {1, 4, 64, 1024, 1'000'000}) {
    // Expected maximum over nodes of one recorded step each.
    std::vector<double> sorted;
    for (const auto& ranks : work_ns) sorted.push_back(ranks[0]);
    std::sort(sorted.begin(), sorted.end());
    double expected = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const double below = static_cast<double>(i) / 120;
      expected += sorted[i] * (std::pow(below + 1.0 / 120, nodes) - std::pow(below, nodes));
    }
    PredictOptions options;
    options.replicates = 8;
    const auto predicted = predict_step(steps, free_network(), {nodes, 1}, options);
    ASSERT_TRUE(predicted) << predicted.reason();
    EXPECT_NEAR(predicted->step_ns.value / expected, 1, 0.02) << nodes;
    EXPECT_GE(predicted->step_ns.value, before);
    before = predicted->step_ns.value;
    if (nodes == 64) {
      EXPECT_NEAR(expected, 147, 2);
    }
  }
}

TEST(PredictStep, TheBiasOfModelledTransfersIsInTheInterval) {
  // Beside 100 of compute: transfers of 0 and 200 in turns, which cost 100 in the mean and are hidden then.
  StepRecording steps = recording({2, 1}, {two_buckets(0, 100, 0), two_buckets(0, 100, 0)}, {0});
  steps.collectives.resize(1);
  steps.collectives[0].bytes = 1000;
  for (RankStep& rank : steps.steps[0].ranks) {
    rank.events = {issue(0), work(100), wait(0)};
    rank.start_delay_ns = {0};
    rank.end_share = {1};
  }
  for (std::uint32_t i = 1; i < 8; ++i) {
    steps.steps.push_back(steps.steps[0]);
    steps.steps.back().step = 5 + i;
    steps.steps.back().transfer_ns = {i % 2 == 0 ? 0.0 : 200.0};
  }
  steps.step_ns = 150;
  CollectiveCosts costs;
  add_costs(steps, costs);
  const auto as_it_was = predict_step(steps, costs, {2, 1});
  ASSERT_TRUE(as_it_was);
  EXPECT_FALSE(as_it_was->is_modelled);
  EXPECT_NEAR(as_it_was->step_ns.value, 150, 1e-9);
  EXPECT_NEAR(as_it_was->replay_over_recorded, 1, 1e-9);
  for (const int nodes : {2, 4}) {
    PredictOptions options;
    options.other_network = true;
    const auto modelled = predict_step(steps, costs, {nodes, 1}, options);
    ASSERT_TRUE(modelled) << modelled.reason();
    EXPECT_TRUE(modelled->is_modelled);
    EXPECT_NEAR(modelled->replay_over_recorded, 100.0 / 150, 1e-9);
    EXPECT_GT(std::log(modelled->step_ns.interval.high / modelled->step_ns.value), 1.96 * std::log(1.5));
  }
}

TEST(WhatIfCurve, AFasterNetworkIsNotSlowerThanTheRecordedOne) {
  // Rank 0 ended its collective early, and worked on. Modelled transfers end everywhere at once: 200 instead of 110.
  StepRecording steps = recording({2, 1}, {RankStep{}, RankStep{}}, {100});
  for (std::size_t rank = 0; rank < 2; ++rank) {
    RankStep& own = steps.steps[0].ranks[rank];
    own.events = {work(10), issue(0), wait(0), work(rank == 0 ? 90 : 0)};
    own.start_delay_ns = {0};
    own.end_share = {rank == 0 ? 0.1 : 1.0};
  }
  steps.step_ns = 110;
  CollectiveCosts costs;
  add_costs(steps, costs);
  WhatIfQuestion question;
  const WhatIfCurve as_it_was = what_if_curve(steps, costs, question, 4, kWhatIfBudget);
  question.per_byte = 0.5;
  const WhatIfCurve faster = what_if_curve(steps, costs, question, 4, kWhatIfBudget);
  ASSERT_EQ(as_it_was.sizes.size(), 3U);
  ASSERT_EQ(faster.sizes.size(), 3U);
  EXPECT_DOUBLE_EQ(as_it_was.sizes[1].step_ns.value, 110);
  EXPECT_NEAR(faster.sizes[1].step_ns.value, 110 * 150.0 / 200, 1e-9);
  EXPECT_NEAR(faster.sizes[1].samples_per_s.value * faster.sizes[1].step_ns.value, 8 * 2 * 1e9, 1);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_LE(faster.sizes[i].step_ns.value, as_it_was.sizes[i].step_ns.value) << i;
  const std::vector<std::string> notes = what_if_figure(steps, as_it_was, faster).notes;
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("off by +81.8%"), std::string::npos) << notes[0];
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
