#include "analyzer/statistics/log_ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/error.h"

namespace ddbench::analyzer {
namespace {

std::vector<TimedValue> blocks(const std::vector<double>& baseline, const std::vector<double>& candidate) {
  std::vector<TimedValue> runs;
  for (const double value : baseline) runs.push_back({value, false});
  for (const double value : candidate) runs.push_back({value, true});
  return runs;
}

double reach(const LogRatio& ratio) {
  return ratio.quantile(0.975) - ratio.estimate();
}

TEST(PairedLogRatio, MatchesAHandComputedStudentInterval) {
  // Differences 0.1, 0.2, 0.3: mean 0.2, s = 0.1; t(0.975, 2) = 4.302653.
  const LogRatio ratio = paired_log_ratio(std::vector<double>{1, 2, 3}, std::vector<double>{1.1, 2.2, 3.3});
  EXPECT_NEAR(ratio.estimate(), 0.2, 1e-12);
  EXPECT_NEAR(reach(ratio), 4.302653 * 0.1 / std::sqrt(3), 1e-6);
  EXPECT_NEAR(ratio.probability_at_most(ratio.quantile(0.01)), 0.01, 1e-9);
  EXPECT_EQ(ratio.method(), "paired Student t over 3 interleaved pairs");
}

TEST(PairedLogRatio, RefusesWhatMakesNoPairs) {
  EXPECT_THROW(paired_log_ratio(std::vector<double>{1}, std::vector<double>{1}), Error);
  EXPECT_THROW(paired_log_ratio(std::vector<double>{1, 2}, std::vector<double>{1, 2, 3}), Error);
}

TEST(PairedLogRatio, DoesNotBelieveThatEqualRunsAreExact) {
  const LogRatio ratio = paired_log_ratio(std::vector<double>{1, 1, 1}, std::vector<double>{1, 1, 1});
  EXPECT_EQ(ratio.estimate(), 0);
  EXPECT_NEAR(reach(ratio), 4.302653 * kLeastSpread, 1e-6);
}

TEST(PairedLogRatio, CancelsWhatPairsShare) {
  const std::vector<double> drift{0, 1, 2, 3, 4, 5};
  const std::vector<double> slower{0.051, 1.049, 2.05, 3.051, 4.049, 5.05};
  EXPECT_LT(paired_log_ratio(drift, slower).probability_at_most(0), 1e-6);
  EXPECT_GT(sequence_log_ratio(blocks(drift, slower)).probability_at_most(0), 0.1);
}

TEST(SequenceLogRatio, IsWelchWhereRunsAlternate) {
  // Two equal sides of 2 runs, variance 0.0002 each: Welch's error sqrt(0.0002), 2 degrees of freedom, so
  // that 4.302653.
  const std::vector<TimedValue> runs{{0.00, false}, {0.12, true}, {0.02, false}, {0.10, true}};
  const LogRatio ratio = sequence_log_ratio(runs);
  EXPECT_NEAR(ratio.estimate(), 0.1, 1e-12);
  EXPECT_GE(reach(ratio), 4.302653 * std::sqrt(0.0002) - 1e-6);
}

TEST(SequenceLogRatio, WidensForRunsThatResembleTheirNeighbours) {
  // The same values in both: once scattered, once wandering within the blocks.
  const LogRatio scattered =
      sequence_log_ratio(blocks({0.00, 0.04, 0.01, 0.03, 0.02, 0.05}, {0.03, 0.01, 0.05, 0.00, 0.04, 0.02}));
  const LogRatio wandering =
      sequence_log_ratio(blocks({0.00, 0.02, 0.04, 0.05, 0.03, 0.01}, {0.00, 0.02, 0.04, 0.05, 0.03, 0.01}));
  EXPECT_NEAR(scattered.estimate(), 0, 1e-12);
  EXPECT_NEAR(wandering.estimate(), 0, 1e-12);
  EXPECT_GT(reach(wandering), 1.2 * reach(scattered));
}

TEST(SequenceLogRatio, CountsATrendInsideTheSidesAsNoise) {
  // 1% a run, throughout: the blocks' means differ by 6%, and nothing was changed.
  std::vector<TimedValue> runs;
  for (int i = 0; i < 12; ++i) runs.push_back({0.01 * i + 0.0005 * (i % 2), i >= 6});
  const LogRatio ratio = sequence_log_ratio(runs);
  EXPECT_NEAR(ratio.estimate(), 0.06, 1e-9);
  EXPECT_GT(ratio.probability_at_most(0), 0.05);
  EXPECT_NE(ratio.method().find("for a trend"), std::string::npos);
}

TEST(SequenceLogRatio, NeedsTwoRunsASideAndStandsEqualOnes) {
  EXPECT_THROW(sequence_log_ratio(blocks({1}, {1, 2})), Error);
  EXPECT_THROW(sequence_log_ratio({}), Error);
  const LogRatio ratio = sequence_log_ratio(blocks({1, 1, 1}, {1.1, 1.1, 1.1}));
  EXPECT_NEAR(ratio.estimate(), 0.1, 1e-12);
  EXPECT_LT(ratio.probability_at_most(0), 0.01);
  EXPECT_TRUE(std::isfinite(reach(ratio)));
}

TEST(WithSpread, AddsVariances) {
  const LogRatio ratio(0.1, {{1, 0.03, 5}}, "t");
  const LogRatio wider = ratio.with_spread(0.04, "drift");
  EXPECT_EQ(wider.estimate(), 0.1);
  // Error 0.05; degrees of freedom 5 * (0.0025 / 0.0009)^2 = 38.6.
  EXPECT_NEAR(reach(wider), 0.05 * 2.0235, 2e-4);
  EXPECT_EQ(wider.method(), "t, drift");
}

TEST(SessionLogRatio, PredictsOneMoreSession) {
  // Session means 0, 0.01, 0.02, 0.03: sd 0.012910; a fifth session scatters by sqrt(1 + 1/4) of it; t(0.975,
  // 3) = 3.182446.
  const std::vector<std::vector<double>> nights{{0.00, 0.00}, {0.01, 0.01}, {0.02, 0.02}, {0.03, 0.03}};
  const LogRatio ratio = session_log_ratio({nights, {{0.055, 0.055}}, nights}, 3, 0.02);
  EXPECT_NEAR(ratio.estimate(), 0.04, 1e-12);
  EXPECT_NEAR(reach(ratio), 3.182446 * 0.0129099 * std::sqrt(1.25), 1e-6);
}

TEST(SessionLogRatio, DoesNotOvertrustALuckyNight) {
  const std::vector<std::vector<double>> night{{0.000, 0.001, 0.002, 0.001, 0.000}};
  const std::vector<double> next{0.050, 0.051, 0.052, 0.051, 0.050};
  EXPECT_LT(sequence_log_ratio(blocks(night.front(), next)).probability_at_most(0), 0.01);
  const LogRatio ratio = session_log_ratio({night, {next}, night}, 3, 0.02);
  EXPECT_GT(ratio.probability_at_most(0), 0.01);
  EXPECT_NE(ratio.method().find("2.0% between sessions assumed"), std::string::npos);
  // Twice as slow is no luck of a night.
  EXPECT_LT(session_log_ratio({night, {{0.69, 0.70}}, night}, 3, 0.02).probability_at_most(0), 0.01);
}

TEST(SessionLogRatio, FewerRunsThanTheHistoryHadScatterMore) {
  std::vector<std::vector<double>> nights;
  for (const double mean : {0.00, 0.01, -0.01, 0.005, -0.005}) {
    nights.push_back({mean - 0.02, mean + 0.02, mean - 0.02, mean + 0.02, mean - 0.02, mean + 0.02});
  }
  const LogRatio many = session_log_ratio({nights, {{0.0, 0.04, 0.0, 0.04, 0.0, 0.04}}, nights}, 3, 0.02);
  const LogRatio few = session_log_ratio({nights, {{0.0, 0.04}}, nights}, 3, 0.02);
  EXPECT_GT(reach(few), reach(many));
}

TEST(SessionLogRatio, RefusesEmptySessions) {
  EXPECT_THROW(session_log_ratio({{}, {{1}}, {}}, 3, 0.02), Error);
  EXPECT_THROW(session_log_ratio({{{1}}, {{}}, {}}, 3, 0.02), Error);
}

TEST(HolmRejections, MatchAWorkedExample) {
  // Sorted: 0.005 <= 0.05/4, 0.01 <= 0.05/3, 0.03 > 0.05/2: two are rejected.
  const std::vector<bool> rejected = holm_rejections(std::vector<double>{0.01, 0.04, 0.03, 0.005}, 0.05, 4);
  EXPECT_EQ(rejected, (std::vector<bool>{true, false, false, true}));
}

TEST(HolmRejections, CountTestsThatCouldNotBeMade) {
  EXPECT_TRUE(holm_rejections(std::vector<double>{0.008}, 0.01, 1)[0]);
  EXPECT_FALSE(holm_rejections(std::vector<double>{0.008}, 0.01, 2)[0]);
  EXPECT_FALSE(holm_rejections(std::vector<double>{NAN}, 0.01, 1)[0]);
  EXPECT_TRUE(holm_rejections({}, 0.01, 0).empty());
}

TEST(LogRatio, AMixtureOfEqualComponentsHasTheirQuantile) {
  // The bracket's end is the root: found for every weight, however its rounding falls.
  for (int parts = 2; parts <= 25; ++parts) {
    const std::vector<LogRatio::Component> equal(static_cast<std::size_t>(parts), {1.0 / parts, 0.01, 4});
    const LogRatio alone(0.02, {{1, 0.01, 4}}, "t");
    const LogRatio mixture(0.02, equal, "mixture");
    for (const double share : {0.005, 0.01, 0.025, 0.975, 0.99}) {
      EXPECT_NEAR(mixture.quantile(share), alone.quantile(share), 1e-9) << parts << " at " << share;
    }
  }
}

TEST(LogRatio, AMixturesQuantileInvertsItsProbability) {
  const LogRatio ratio(0.02, {{0.5, 0.01, 4}, {0.3, 0.03, 8}, {0.2, 0.1, 2}}, "mixture");
  for (const double share : {0.005, 0.01, 0.3, 0.5, 0.7, 0.99}) {
    EXPECT_NEAR(ratio.probability_at_most(ratio.quantile(share)), share, 1e-6);
  }
}

}  // namespace
}  // namespace ddbench::analyzer
