#include "analyzer/statistics/linear_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "coverage.h"

namespace ddbench::analyzer {
namespace {

using test::Coverage;
using test::noisy;

std::vector<FitPoint> noisy_line(double intercept, double slope, int repetitions, double spread,
                                 std::mt19937_64& random) {
  std::vector<FitPoint> points;
  for (const double x : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0}) {
    FitPoint point{{1, x, 0}, {}};
    for (int i = 0; i < repetitions; ++i) point.y.push_back(noisy(intercept + slope * x, spread, random));
    points.push_back(point);
  }
  return points;
}

TEST(LinearFit, ExactLineIsRecovered) {
  const std::vector<FitPoint> points = {{{1, 1, 0}, {5}}, {{1, 2, 0}, {8}}, {{1, 10, 0}, {32}}};
  const auto fit = fit_linear(points, 2, ErrorModel::kRelative);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->coefficients[0], 2, 1e-9);
  EXPECT_NEAR(fit->coefficients[1], 3, 1e-9);
  EXPECT_NEAR(fit->variance, 0, 1e-15);
  EXPECT_EQ(fit->degrees_of_freedom, 1);
  EXPECT_TRUE(fit->badly_fitted.empty());
}

TEST(LinearFit, CoefficientsOfRelativeErrorsAreNotNegative) {
  const std::vector<FitPoint> points = {{{1, 1, 0}, {10}}, {{1, 2, 0}, {9}}, {{1, 3, 0}, {7}}};
  const auto fit = fit_linear(points, 2, ErrorModel::kRelative);
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->coefficients[1], 0);
  EXPECT_LT(fit->unconstrained[1], 0);
  const auto slope = ratio_of(*fit, {0, 1, 0}, {1, 0, 0});
  ASSERT_TRUE(slope);
  EXPECT_EQ(slope->value, 0);
  EXPECT_GE(slope->interval.low, 0);
}

TEST(LinearFit, TooFewPointsAndTwinsGiveNothing) {
  EXPECT_FALSE(fit_linear(std::vector<FitPoint>{{{1, 1, 0}, {5}}}, 2, ErrorModel::kRelative));
  const std::vector<FitPoint> twins = {{{1, 3, 0}, {5}}, {{1, 3, 0}, {6}}, {{1, 3, 0}, {7}}};
  EXPECT_FALSE(fit_linear(twins, 2, ErrorModel::kRelative));
}

TEST(LinearFit, WithoutFreedomThereIsNoInterval) {
  const std::vector<FitPoint> points = {{{1, 1, 0}, {5}}, {{1, 2, 0}, {8}}};
  const auto fit = fit_linear(points, 2, ErrorModel::kRelative);
  ASSERT_TRUE(fit);
  EXPECT_FALSE(mean_at(*fit, {1, 1, 0}));
  EXPECT_NE(ratio_of(*fit, {0, 1, 0}, {1, 0, 0}).reason().find("error"), std::string::npos);
}

TEST(LinearFit, WrongMeasurementsAreRefused) {
  for (const double wrong : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    const std::vector<FitPoint> points = {{{1, 1, 0}, {5}}, {{1, 2, 0}, {wrong}}, {{1, 3, 0}, {9}}};
    EXPECT_THROW(fit_linear(points, 2, ErrorModel::kRelative), Error) << wrong;
  }
  EXPECT_THROW(fit_linear(std::vector<FitPoint>{{{1, 1, 0}, {}}}, 1, ErrorModel::kAbsolute), Error);
}

TEST(LinearFit, IntervalsHoldTheTruthAsOftenAsTheySay) {
  std::mt19937_64 random(11);
  for (const int repetitions : {1, 3}) {
    Coverage mean;
    Coverage ratio;
    for (int sample = 0; sample < 2000; ++sample) {
      const auto points = noisy_line(4, 0.5, repetitions, 0.03, random);
      const auto fit = fit_linear(points, 2, ErrorModel::kRelative);
      ASSERT_TRUE(fit);
      mean.add(mean_at(*fit, {1, 100, 0})->interval, 4 + 0.5 * 100);
      ratio.add(ratio_of(*fit, {0, 1, 0}, {1, 0, 0})->interval, 0.5 / 4);
    }
    EXPECT_NEAR(mean.share(), 0.95, mean.tolerance()) << repetitions << " repetitions";
    EXPECT_NEAR(ratio.share(), 0.95, ratio.tolerance()) << repetitions << " repetitions";
  }
}

TEST(LinearFit, ATrueZeroIsHeldToo) {
  std::mt19937_64 random(12);
  Coverage slope;
  for (int sample = 0; sample < 2000; ++sample) {
    const auto fit = fit_linear(noisy_line(4, 0, 2, 0.02, random), 2, ErrorModel::kRelative);
    slope.add(ratio_of(*fit, {0, 1, 0}, {1, 0, 0})->interval, 0);
  }
  EXPECT_GE(slope.share(), 0.95 - slope.tolerance());
}

TEST(LinearFit, APointOffTheCurveIsNamedAndGoodOnesAreNot) {
  std::mt19937_64 random(13);
  int flagged = 0;
  int false_alarms = 0;
  for (int sample = 0; sample < 300; ++sample) {
    auto points = noisy_line(4, 0.5, 3, 0.01, random);
    false_alarms += !fit_linear(points, 2, ErrorModel::kRelative)->badly_fitted.empty();
    for (double& y : points[3].y) y *= 1.08;
    const auto bad = fit_linear(points, 2, ErrorModel::kRelative)->badly_fitted;
    flagged += bad.size() == 1 && bad[0] == 3;
  }
  EXPECT_GE(flagged, 290);
  EXPECT_LE(false_alarms, 15 + 12);  // 5% and three standard errors
}

}  // namespace
}  // namespace ddbench::analyzer
