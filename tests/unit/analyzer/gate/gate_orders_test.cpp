// The gate gives a verdict on runs in any order of time, with any values a run may measure.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "analyzer/gate/gate.h"
#include "sample_runs.h"

namespace ddbench::analyzer {
namespace {

using test::kDay_ns;
using test::kMinute_ns;
using Generator = std::mt19937_64;

struct OrderedSides {
  GateSide baseline;
  GateSide candidate;
};

void add_run(OrderedSides& sides, bool candidate, std::int64_t started_ns, double step_ms) {
  GateSide& side = candidate ? sides.candidate : sides.baseline;
  side.reference = candidate ? "b" : "a";
  side.runs.push_back(
      test::sample_run(side.reference + std::to_string(side.runs.size()), started_ns, step_ms));
}

/// baseline, candidate, baseline, candidate, ... a minute apart.
OrderedSides alternating(int pairs, double factor, double drift_per_run, Generator& random) {
  std::normal_distribution<double> noise(0, 0.005);
  OrderedSides sides;
  for (int i = 0; i < 2 * pairs; ++i) {
    const bool candidate = i % 2 == 1;
    add_run(sides, candidate, kDay_ns + i * kMinute_ns,
            10 * (candidate ? factor : 1) * std::exp(noise(random) + drift_per_run * i));
  }
  return sides;
}

GateVerdict judged(const OrderedSides& sides) {
  GatePolicy policy;
  policy.metrics = all_run_metrics();
  policy.min_pairs = 2;
  return judge(sides.baseline, sides.candidate, policy);
}

void expect_finite(const GateVerdict& verdict) {
  for (const MetricVerdict& metric : verdict.metrics) {
    if (!metric.estimate) continue;
    EXPECT_TRUE(std::isfinite(metric.estimate->p_value));
    EXPECT_LE(metric.estimate->change_interval.low, metric.estimate->change_interval.high);
  }
}

TEST(GateOrders, AlternatingRunsArePairs) {
  Generator random(20261122);
  for (const int pairs : {3, 5, 10}) {
    for (int trial = 0; trial < 30; ++trial) {
      const GateVerdict equal = judged(alternating(pairs, 1, 0, random));
      EXPECT_EQ(equal.in_time, SidesInTime::kInterleaved);
      EXPECT_NE(equal.outcome, GateOutcome::kRegression);
      expect_finite(equal);
    }
    EXPECT_EQ(judged(alternating(pairs, 1.2, 0, random)).outcome, GateOutcome::kRegression) << pairs;
  }
}

TEST(GateOrders, DriftOfAlternatingRunsIsNoRegression) {
  // 1% a run: each candidate run is 1% slower than the baseline run before it, and nothing was changed.
  Generator random(20261122);
  for (int trial = 0; trial < 30; ++trial) {
    OrderedSides sides = alternating(10, 1, 0.01, random);
    GatePolicy strict;
    strict.threshold = 0.005;
    const GateVerdict verdict = judge(sides.baseline, sides.candidate, strict);
    EXPECT_NE(verdict.outcome, GateOutcome::kRegression);
    EXPECT_NE(verdict.metrics[0].estimate->change_interval.method.find("the baseline came first in all"),
              std::string::npos);
  }
}

/// A random number of runs a side, in a random order, with pauses and reboots between them and values that
/// tie, scatter or differ by orders of magnitude.
OrderedSides random_sides(Generator& random) {
  const auto below = [&](unsigned bound) { return static_cast<int>(random() % bound); };
  std::vector<bool> order(static_cast<std::size_t>(2 + below(9)), true);
  order.resize(order.size() + static_cast<std::size_t>(2 + below(9)), false);
  std::shuffle(order.begin(), order.end(), random);
  const double spreads[] = {0, 1e-9, 1e-3, 0.02, 0.5, 5};
  std::normal_distribution<double> noise(0, spreads[below(6)]);
  const bool pauses = below(4) == 0;
  const bool reboots = below(8) == 0;
  OrderedSides sides;
  std::int64_t started_ns = kDay_ns;
  for (const bool candidate : order) {
    add_run(sides, candidate, started_ns, 10 * std::exp(noise(random)));
    if (reboots && below(3) == 0)
      (candidate ? sides.candidate : sides.baseline).runs.back().run.owner_boot_id = "another boot";
    started_ns += (pauses && below(3) == 0 ? 600 : below(2)) * kMinute_ns;  // some start at the same time
  }
  return sides;
}

TEST(GateOrders, NoOrderIsAnInternalError) {
  Generator random(20261122);
  for (int trial = 0; trial < 400; ++trial) {
    const OrderedSides sides = random_sides(random);
    EXPECT_NO_THROW(expect_finite(judged(sides))) << "trial " << trial;
  }
}

}  // namespace
}  // namespace ddbench::analyzer
