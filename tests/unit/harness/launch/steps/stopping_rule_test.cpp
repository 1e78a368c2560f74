#include "harness/launch/steps/stopping_rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "harness/training/step/step_clock.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;

constexpr double kMargin = 0.01;

struct Ended {
  std::optional<StopReason> reason;
  std::uint64_t steps = 0;
  double seconds = 0;
  double mean_ns = 0;
};

/// Feeds a rule with steps as ranks do, five times a second, until it ends the run.
Ended run(StoppingRule rule, const std::function<double(int)>& step_ns) {
  Ended ended;
  StepWindow open;
  double total_ns = 0;
  double pair_ns = 0;
  double next_report_ns = 0;
  for (int step = 0; step < 10'000'000; ++step) {
    const double ns = step_ns(step);
    total_ns += ns;
    ++open.steps;
    open.time_ns += std::llround(ns);
    if (step % 4 == 2) pair_ns = ns;
    if (step % 4 == 3) {
      ++open.pairs;
      open.log_ratio += (ddp::is_probed(static_cast<std::uint32_t>(step), 0) ? 1 : -1) * std::log(ns / pair_ns);
    }
    if (open.time_ns >= 10'000'000 && step % 4 != 2) {
      rule.add(open);
      open = {};
    }
    if (total_ns < next_report_ns) continue;
    next_report_ns = total_ns + 2e8;
    ended.reason = rule.decide(std::chrono::nanoseconds(std::llround(total_ns)));
    ended.steps = static_cast<std::uint64_t>(step) + 1;
    if (ended.reason) break;
  }
  ended.seconds = total_ns * 1e-9;
  ended.mean_ns = total_ns / static_cast<double>(ended.steps);
  return ended;
}

/// A first-order autoregression with this mean and relative standard deviation.
class Noise {
 public:
  Noise(double mean_ns, double share, double phi, std::uint64_t seed)
      : mean_ns_(mean_ns), share_(share), phi_(phi), random_(seed) {}
  double operator()(int) {
    const double fresh = normal_(random_) * std::sqrt(1 - phi_ * phi_);
    level_ = is_first_ ? normal_(random_) : phi_ * level_ + fresh;
    is_first_ = false;
    return mean_ns_ * std::max(0.1, 1 + share_ * level_);
  }

 private:
  double mean_ns_, share_, phi_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  double level_ = 0;
  bool is_first_ = true;
};

TEST(StoppingRule, SteadyStepsEndAfterTheLeastTime) {
  const Ended ended = run({kMargin, 20s}, [](int) { return 2.5e6; });
  EXPECT_EQ(ended.reason, StopReason::kMargin);
  EXPECT_GE(ended.seconds, 3);
  EXPECT_LT(ended.seconds, 4);
}

TEST(StoppingRule, FewStepsAreNotEnoughHoweverLongTheyTake) {
  const Ended ended = run({kMargin, 100s}, [](int) { return 1e9; });
  EXPECT_EQ(ended.reason, StopReason::kMargin);
  EXPECT_GE(ended.steps, StoppingRule::kFewestSteps);
  EXPECT_LT(ended.steps, 80u);
}

TEST(StoppingRule, NoisierStepsTakeLonger) {
  const Ended quiet = run({kMargin, 1000s}, Noise(5e6, 0.01, 0, 1));
  const Ended noisy = run({kMargin, 1000s}, Noise(5e6, 0.1, 0, 1));
  EXPECT_EQ(quiet.reason, StopReason::kMargin);
  EXPECT_EQ(noisy.reason, StopReason::kMargin);
  EXPECT_GT(noisy.steps, 2 * quiet.steps);
}

TEST(StoppingRule, AutocorrelatedStepsTakeLongerThanWhiteNoise) {
  const Ended white = run({kMargin, 3000s}, Noise(20e6, 0.05, 0, 2));
  const Ended correlated = run({kMargin, 3000s}, Noise(20e6, 0.05, 0.98, 2));
  EXPECT_EQ(white.reason, StopReason::kMargin);
  EXPECT_EQ(correlated.reason, StopReason::kMargin);
  EXPECT_GT(correlated.steps, white.steps);
}

TEST(StoppingRule, DriftAndASlowBeginningGoOnToTheMostTime) {
  const Ended drift = run({kMargin, 20s}, [](int step) { return 2e6 * (1 + step / 2000.0); });
  EXPECT_EQ(drift.reason, StopReason::kMaxTime);
  const Ended slow = run({kMargin, 20s}, [](int step) { return step < 100 ? 20e6 : 5e6; });
  EXPECT_GT(slow.seconds, 6);
}

TEST(StoppingRule, TheMostTimeLeavesTheLeadAndIsNotPassed) {
  for (const auto most : {1s, 4s, 20s, 600s}) {
    const StoppingRule rule(1e-9, most);
    const Ended ended = run(rule, Noise(1e6, 0.2, 0, 3));
    EXPECT_EQ(ended.reason, StopReason::kMaxTime);
    const double end = ended.seconds + std::chrono::duration<double>(rule.lead()).count();
    EXPECT_NEAR(end, std::chrono::duration<double>(most).count(), 0.25);
  }
}

TEST(StoppingRule, StepsLongerThanTheMostTimeEndTheRunAtOnce) {
  StoppingRule rule(kMargin, 20s);
  EXPECT_EQ(rule.decide(1s), std::nullopt);
  EXPECT_EQ(rule.decide(19s), StopReason::kMaxTime);  // the first step is still under way
}

TEST(StoppingRule, TheCostOfTheProbesMustBeKnownToo) {
  // Steps of a pair differ by turns: the step time is known, the cost of the probes is not.
  Noise noise(5e6, 0.2, 0, 5);
  double first_ns = 0;
  const Ended ended = run({kMargin, 20s}, [&](int step) {
    if (step % 2 == 0) return first_ns = noise(step);
    return 10e6 - first_ns;
  });
  EXPECT_EQ(ended.reason, StopReason::kMaxTime);
}

TEST(StoppingRule, WhereItStopsTheIntervalStillHoldsTheTruth) {
  // Stopping when the interval happens to be short costs coverage: it must not cost much.
  for (const double phi : {0.5, 0.9}) {
    int held = 0;
    constexpr int kRuns = 20;
    for (int i = 0; i < kRuns; ++i) {
      const Ended ended = run({kMargin, 400s}, Noise(10e6, 0.12, phi, 100 + static_cast<std::uint64_t>(i)));
      held += std::abs(ended.mean_ns / 10e6 - 1) <= kMargin;
    }
    EXPECT_GE(held, kRuns * 85 / 100) << "AR(1) " << phi;
  }
}

TEST(StepSeries, IsBoundedAndForgetsNothing) {
  StepSeries series;
  for (int i = 0; i < 100'000; ++i) series.add({3, 9'000'000 + i % 7, 1, 0.001});
  EXPECT_EQ(series.steps(), 300'000u);
  EXPECT_LT(*series.half_width(), 1e-3);
  EXPECT_LT(*series.probe_half_width(), 1e-6);
}

TEST(StepSeries, LongRunsNarrowTheCostOfTheProbes) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0.01, 0.14);
  StepSeries series;
  for (int i = 0; i < 3000; ++i) series.add({4, 20'000'000, 1, normal(random)});
  const double before = *series.probe_half_width();
  for (int i = 0; i < 27'000; ++i) series.add({4, 20'000'000, 1, normal(random)});
  EXPECT_LT(*series.probe_half_width(), before / 2);  // of ten times as many a third
}

TEST(StepSeries, SaysWhyItHasNoInterval) {
  StepSeries series;
  EXPECT_FALSE(series.half_width());
  EXPECT_FALSE(series.probe_half_width());
  EXPECT_FALSE(series.half_width().reason().empty());
}

}  // namespace
}  // namespace ddbench::launch
