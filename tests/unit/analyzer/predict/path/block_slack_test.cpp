#include "analyzer/predict/path/block_slack.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "../step_events.h"
#include "analyzer/predict/replay.h"

namespace ddbench::analyzer {
namespace {

TEST(BlockSlack, TwoRanksAndTwoBuckets) {
  // Rank 1 has its first bucket at 120: it goes over 120..170. The second is ready at 160, and goes over 170..230.
  const auto steps = recording({1, 2}, {two_buckets(100, 50, 7), two_buckets(120, 40, 5)}, {50, 60});
  const BlockSlack block = block_slack(steps, 0, 1);
  EXPECT_DOUBLE_EQ(block.elapsed_ns, 237);
  const StepSlack& step = block.steps.at(0);
  EXPECT_DOUBLE_EQ(step.work[0][0].slack_ns, 20);  // its first bucket would still be there at 120
  EXPECT_DOUBLE_EQ(step.work[1][0].slack_ns, 0);
  EXPECT_DOUBLE_EQ(step.work[0][2].slack_ns, 20);  // the second may be ready at 170
  EXPECT_DOUBLE_EQ(step.work[1][2].slack_ns, 10);
  EXPECT_DOUBLE_EQ(step.work[0][6].slack_ns, 0);
  EXPECT_DOUBLE_EQ(step.work[1][6].slack_ns, 2);
  EXPECT_DOUBLE_EQ(step.transfers[0].slack_ns, 0);
  EXPECT_DOUBLE_EQ(step.delays[0][0].slack_ns, 20);
  EXPECT_DOUBLE_EQ(step.work[1][0].path_ns, 120);
  EXPECT_DOUBLE_EQ(step.transfers[0].path_ns + step.transfers[1].path_ns, 110);
  EXPECT_DOUBLE_EQ(step.work[0][6].path_ns, 7);
}

TEST(BlockSlack, WhatNothingWaitsForHasNoBound) {
  auto steps = recording({1, 1}, {two_buckets(10, 10, 7)}, {5, 5});
  std::erase_if(steps.steps[0].ranks[0].events, [](const StepEvent& event) { return event.action == StepAction::kWait; });
  const BlockSlack block = block_slack(steps, 0, 1);
  EXPECT_DOUBLE_EQ(block.elapsed_ns, 27);
  EXPECT_TRUE(std::isinf(block.steps[0].transfers[1].slack_ns));
  EXPECT_DOUBLE_EQ(block.steps[0].work[0][0].slack_ns, 0);
  EXPECT_TRUE(block_slack(steps, 1, 1).steps.empty());
}

/// Steps of whole nanoseconds, with delays, ranks that leave a collective early, and some that do not wait.
StepRecording random_steps(std::mt19937& random) {
  const auto up_to = [&](unsigned most) { return static_cast<double>(random() % (most + 1)); };
  const auto buckets = static_cast<std::uint32_t>(random() % 5);
  const unsigned many = 1 + random() % 4;
  const bool blocking = random() % 4 == 0;
  StepRecording result = recording({1, static_cast<int>(many)}, {}, std::vector<double>(buckets));
  result.steps.clear();
  for (std::uint32_t step = 0, count = 1 + static_cast<std::uint32_t>(random() % 3); step < count; ++step) {
    RecordedStep recorded;
    recorded.step = step;
    for (std::uint32_t c = 0; c < buckets; ++c) recorded.transfer_ns.push_back(up_to(60));
    for (unsigned r = 0; r < many; ++r) {
      RankStep own;
      for (std::uint32_t c = 0; c < buckets; ++c) {
        own.start_delay_ns.push_back(random() % 3 == 0 ? up_to(20) : 0);
        own.end_share.push_back(random() % 5 == 0 ? (random() % 2 == 0 ? -1 : 0.5) : 1);
        own.events.push_back(work(up_to(40)));
        own.events.push_back(issue(c));
        if (blocking) own.events.push_back(wait(c));
      }
      own.events.push_back(work(up_to(10), WorkKind::kHost));
      for (std::uint32_t c = 0; c < buckets; ++c) own.events.push_back(wait(c));
      own.events.push_back(work(up_to(20), WorkKind::kOptimizer));
      recorded.ranks.push_back(std::move(own));
    }
    result.steps.push_back(std::move(recorded));
  }
  return result;
}

double elapsed(const StepRecording& steps) {
  ReplaySchedule schedule{steps.steps.size(), {}};
  for (std::uint32_t i = 0; i < steps.steps.size(); ++i) schedule.recorded.push_back(i);
  return replay(steps, {1, steps.shape.gpus_per_node}, schedule, {}).step_ns * static_cast<double>(steps.steps.size());
}

/// Longer by its slack it makes the block no longer; by more, it does.
void expect_slack(const StepRecording& steps, double elapsed_ns, const Slack& slack,
                  const std::function<double&(StepRecording&)>& length) {
  constexpr double kMore = 3;
  StepRecording longer = steps;
  if (std::isinf(slack.slack_ns)) {
    length(longer) += 1e6;
    EXPECT_NEAR(elapsed(longer), elapsed_ns, 1e-6);
    return;
  }
  EXPECT_GE(slack.slack_ns, -1e-9);
  length(longer) += slack.slack_ns;
  EXPECT_NEAR(elapsed(longer), elapsed_ns, 1e-6);
  length(longer) += kMore;
  EXPECT_GT(elapsed(longer), elapsed_ns + 1e-6);
}

TEST(BlockSlack, AgreesWithMakingEachThingLonger) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    const StepRecording steps = random_steps(random);
    const double elapsed_ns = elapsed(steps);
    const BlockSlack block = block_slack(steps, 0, steps.steps.size());
    EXPECT_NEAR(block.elapsed_ns, elapsed_ns, 1e-6);
    double path_ns = 0;
    const auto check = [&](const Slack& slack, const std::function<double&(StepRecording&)>& length) {
      expect_slack(steps, elapsed_ns, slack, length);
      path_ns += slack.path_ns;
      if (slack.path_ns > 1e-9) {
        EXPECT_NEAR(slack.slack_ns, 0, 1e-6) << "what is on the path has no slack";
      }
    };
    for (std::size_t s = 0; s < steps.steps.size(); ++s) {
      const RecordedStep& step = steps.steps[s];
      for (std::size_t c = 0; c < steps.collectives.size(); ++c)
        check(block.steps[s].transfers[c], [&](StepRecording& all) -> double& { return all.steps[s].transfer_ns[c]; });
      for (std::size_t r = 0; r < step.ranks.size(); ++r) {
        for (std::size_t c = 0; c < steps.collectives.size(); ++c)
          check(block.steps[s].delays[r][c], [&](StepRecording& all) -> double& { return all.steps[s].ranks[r].start_delay_ns[c]; });
        for (std::size_t e = 0; e < step.ranks[r].events.size(); ++e) {
          if (step.ranks[r].events[e].action == StepAction::kWork)
            check(block.steps[s].work[r][e], [&](StepRecording& all) -> double& { return all.steps[s].ranks[r].events[e].ns; });
        }
      }
    }
    EXPECT_NEAR(path_ns, elapsed_ns, 1e-6) << "the path has no gap";
  }
}

TEST(BlockSlack, SlowedComputeHasTheLengthThatItTook) {
  auto steps = recording({1, 2}, {two_buckets(100, 50, 0), two_buckets(100, 50, 0)}, {1000, 0});
  steps.slowdown = 0.5;  // all 50 ns of compute beside the first bucket take 75
  const BlockSlack block = block_slack(steps, 0, 1);
  EXPECT_DOUBLE_EQ(block.elapsed_ns, 1100);
  EXPECT_DOUBLE_EQ(block.steps[0].work[0][2].ns, 75);
  EXPECT_DOUBLE_EQ(block.steps[0].work[0][2].slack_ns, 1100 - 175);
}

}  // namespace
}  // namespace ddbench::analyzer
