#include "harness/experiment/ingest/live_progress.h"

#include <gtest/gtest.h>

namespace ddbench::experiment {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;

RunCase two_ranks() {
  RunCase run_case;
  run_case.gpus_per_node = 2;
  run_case.batch_per_gpu = 10;
  run_case.warmup = 2;
  run_case.steps = 98;
  return run_case;
}

TEST(ProgressTracker, TheSlowestRankDecides) {
  ProgressTracker tracker(two_ranks(), 2);
  EXPECT_EQ(tracker.update(0, 10, 1.0, kSecond_ns).steps_done, 0u);
  const LiveProgress progress = tracker.update(1, 5, 3.0, kSecond_ns);
  EXPECT_EQ(progress.steps_done, 5u);
  EXPECT_EQ(progress.steps_total, 100u);
  EXPECT_DOUBLE_EQ(progress.loss, 2.0);
}

TEST(ProgressTracker, RateAndTimeLeftFollowFromStepsOverTime) {
  ProgressTracker tracker(two_ranks(), 2);
  tracker.update(0, 10, 1, kSecond_ns);
  tracker.update(1, 10, 1, kSecond_ns);
  tracker.update(0, 20, 1, 2 * kSecond_ns);
  const LiveProgress progress = tracker.update(1, 20, 1, 2 * kSecond_ns);
  EXPECT_GT(progress.samples_per_s, 0);
  EXPECT_NEAR(progress.seconds_left * progress.samples_per_s, (100 - 20) * 20, 1e-6);
}

TEST(ProgressTracker, AResumedRunWarmsUpAgain) {
  ProgressTracker tracker(two_ranks(), 52);
  for (const int rank : {0, 1}) {
    tracker.update(rank, 51, 1, kSecond_ns);  // cold
    tracker.update(rank, 52, 1, 10 * kSecond_ns);
  }
  tracker.update(0, 62, 1, 11 * kSecond_ns);
  EXPECT_DOUBLE_EQ(tracker.update(1, 62, 1, 11 * kSecond_ns).samples_per_s, 200);
}

TEST(ProgressTracker, UnknownUntilTwoStepsLieApart) {
  ProgressTracker tracker(two_ranks(), 2);
  const LiveProgress progress = tracker.update(0, 1, 1, kSecond_ns);
  EXPECT_EQ(progress.samples_per_s, 0);
  EXPECT_EQ(progress.seconds_left, 0);
}

TEST(ProgressTracker, OldReportsAreIgnored) {
  ProgressTracker tracker(two_ranks(), 2);
  tracker.update(0, 10, 1, kSecond_ns);
  tracker.update(1, 10, 1, kSecond_ns);
  EXPECT_EQ(tracker.update(1, 4, 9, 2 * kSecond_ns).steps_done, 10u);
}

TEST(ProgressTracker, TheRateIsThatOfAllMeasuredStepsSoFar) {
  RunCase run_case = two_ranks();
  run_case.gpus_per_node = 1;
  run_case.steps = 1000;
  ProgressTracker tracker(run_case, 2);
  std::int64_t time_ns = 0;
  std::uint32_t step = 0;
  LiveProgress progress;
  while (step < 2) progress = tracker.update(0, ++step, 1, time_ns += 50 * kSecond_ns);
  EXPECT_EQ(progress.samples_per_s, 0) << "the warm-up does not count";
  while (step < 100) progress = tracker.update(0, ++step, 1, time_ns += kSecond_ns / 10);
  EXPECT_NEAR(progress.samples_per_s, 100, 1e-6);
  while (step < 120) progress = tracker.update(0, ++step, 1, time_ns += kSecond_ns);
  EXPECT_NEAR(progress.samples_per_s, 118 * 10 / 29.8, 1e-6);
}

}  // namespace
}  // namespace ddbench::experiment
