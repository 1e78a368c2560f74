#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analyzer/run/step_series.h"

namespace ddbench::analyzer {
namespace {

/// Steps of a run whose probes cost `overhead` of a step, with autocorrelated, skewed scatter of `sigma`.
class ProbedRuns {
 public:
  std::vector<RunStep> draw(std::size_t steps, double correlation, double sigma, double overhead) {
    std::vector<RunStep> run;
    std::normal_distribution<double> normal;
    double state = normal(random_);
    for (std::size_t i = 0; i < steps; ++i) {
      state = correlation * state + std::sqrt(1 - correlation * correlation) * normal(random_);
      RunStep step;
      step.step = static_cast<std::uint32_t>(i);
      step.probes_on = i % 4 != (i % 8 < 4 ? off_[0] : off_[1]);
      if (i % 8 == 7) draw_windows();
      // exp(s^2) is more skewed than a step's own scatter.
      step.mean_ns =
          1e7 * std::exp(sigma * state * (state > 0 ? 2 : 1)) * (step.probes_on ? 1 + overhead : 1);
      run.push_back(step);
    }
    return run;
  }

 private:
  void draw_windows() {
    for (std::size_t& off : off_) off = 2 + random_() % 2;
  }
  std::mt19937_64 random_{12};
  std::size_t off_[2] = {2, 3};
};

/// The share of 4,000 runs in which the interval of the cost leaves 0 out.
double significant_share(std::size_t steps, double correlation, double sigma) {
  ProbedRuns runs;
  int significant = 0;
  for (int run = 0; run < 4000; ++run) {
    const auto cost = probe_overhead_percent(runs.draw(steps, correlation, sigma, 0));
    significant += cost->interval.low > 0 || cost->interval.high < 0;
  }
  return significant / 4000.0;
}

TEST(ProbeOverhead, RunsWithoutACostShowNone) {
  for (const std::size_t steps : {60, 200}) {
    for (const double correlation : {0.0, 0.5, 0.8}) {
      const double share = significant_share(steps, correlation, 0.1);
      std::printf("A/A: %zu steps, AR(1) %.1f: a cost is significant in %.1f%% of runs\n", steps, correlation,
                  100 * share);
      EXPECT_LE(share, 0.05 + 2.5 * std::sqrt(0.05 * 0.95 / 4000)) << steps << " steps, " << correlation;
    }
  }
}

TEST(ProbeOverhead, AKnownCostLiesInItsInterval) {
  ProbedRuns runs;
  int held = 0;
  double sum = 0;
  for (int run = 0; run < 500; ++run) {
    const auto cost = probe_overhead_percent(runs.draw(400, 0.5, 0.05, 0.02));
    held += cost->interval.low <= 2 && 2 <= cost->interval.high;
    sum += cost->value;
  }
  EXPECT_GE(held, 465) << "93% of 500";
  EXPECT_NEAR(sum / 500, 2, 0.1) << "and it is not biased";
}

TEST(SignedRank, IntervalOfAFewIsThatOfTheExactTest) {
  // n = 6: the exact test rejects at 5% only what lies outside of all six values.
  const std::vector<double> values = {1, 2, 3, 4, 5, 16};
  const auto estimate = signed_rank_estimate(values);
  ASSERT_TRUE(estimate);
  EXPECT_DOUBLE_EQ(estimate->value, 3.5);
  EXPECT_DOUBLE_EQ(estimate->interval.low, 1);
  EXPECT_DOUBLE_EQ(estimate->interval.high, 16);
  EXPECT_FALSE(signed_rank_estimate(std::span(values).first(5)));
}

}  // namespace
}  // namespace ddbench::analyzer
