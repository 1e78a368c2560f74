#include "analyzer/scaling/scaling_models.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "core/error.h"
#include "coverage.h"

namespace ddbench::analyzer {
namespace {

using test::Coverage;
using test::noisy;

using Law = std::function<double(double)>;

std::vector<ScalingPoint> sample(const Law& law, int repetitions, double spread, std::mt19937_64& random,
                                 double largest = 32) {
  std::vector<ScalingPoint> points;
  for (double n = 1; n <= largest; n *= 2) {
    ScalingPoint point{n, {}};
    for (int i = 0; i < repetitions; ++i) point.throughput.push_back(noisy(law(n), spread, random));
    points.push_back(point);
  }
  return points;
}

Law amdahl(double lambda, double s) {
  return [=](double n) { return lambda / (s + (1 - s) / n); };
}
Law usl(double lambda, double sigma, double kappa) {
  return [=](double n) { return lambda * n / (1 + sigma * (n - 1) + kappa * n * (n - 1)); };
}

struct Truth {
  ScalingModel model;
  Law law;
  std::vector<double> parameters;
};

std::vector<Truth> truths() {
  return {
      {ScalingModel::kAmdahl, amdahl(300, 0.03), {300, 0.03}},
      {ScalingModel::kGustafson, [](double n) { return 300 * (0.1 + 0.9 * n); }, {300, 0.1}},
      {ScalingModel::kUsl, usl(300, 0.03, 0.0008), {300, 0.03, 0.0008}},
      {ScalingModel::kLogLaw, [](double n) { return 300 * n / (1 + 0.06 * std::log2(n)); }, {300, 0.06}},
      {ScalingModel::kPowerLaw, [](double n) { return 300 * std::pow(n, 0.85); }, {300, 0.85}},
  };
}

TEST(ScalingModels, ParametersOfExactCurvesAreRecovered) {
  std::mt19937_64 random(1);
  for (const Truth& truth : truths()) {
    const auto fit = fit_scaling(sample(truth.law, 1, 0, random), truth.model);
    ASSERT_TRUE(fit) << to_string(truth.model);
    for (std::size_t i = 0; i < truth.parameters.size(); ++i) {
      EXPECT_NEAR(fit->parameters[i].value, truth.parameters[i], 1e-6 * truth.parameters[i])
          << to_string(truth.model) << " " << fit->parameters[i].name;
    }
    EXPECT_NEAR(predict(*fit, 256).throughput, truth.law(256), 1e-6 * truth.law(256));
  }
}

TEST(ScalingModels, IntervalsHoldTheTruthAsOftenAsTheySay) {
  std::mt19937_64 random(2);
  for (const Truth& truth : truths()) {
    std::vector<Coverage> parameters(truth.parameters.size());
    Coverage prediction;
    for (int i = 0; i < 1200; ++i) {
      const auto fit = fit_scaling(sample(truth.law, 3, 0.02, random), truth.model);
      ASSERT_TRUE(fit);
      for (std::size_t p = 0; p < parameters.size(); ++p) {
        ASSERT_TRUE(fit->parameters[p].interval);
        parameters[p].add(*fit->parameters[p].interval, truth.parameters[p]);
      }
      const Prediction at64 = predict(*fit, 64);
      ASSERT_TRUE(at64.interval);
      prediction.add(at64.interval->interval, truth.law(64));
    }
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      EXPECT_NEAR(parameters[p].share(), 0.95, parameters[p].tolerance())
          << to_string(truth.model) << " " << p;
    }
    EXPECT_NEAR(prediction.share(), 0.95, prediction.tolerance()) << to_string(truth.model);
  }
}

TEST(ScalingModels, CrossValidationFindsTheLaw) {
  std::mt19937_64 random(3);
  for (const Truth& truth : truths()) {
    int found = 0;
    for (int i = 0; i < 50; ++i) {
      const auto choice = choose_scaling_model(sample(truth.law, 3, 0.003, random, 128));
      ASSERT_TRUE(choice) << choice.reason();
      found += choice->best.model == truth.model;
    }
    EXPECT_GE(found, 45) << to_string(truth.model);
  }
}

TEST(ScalingModels, OfEqualLawsTheSimplerIsChosen) {
  std::mt19937_64 random(4);
  const auto choice = choose_scaling_model(sample(amdahl(100, 0.05), 1, 0, random));
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->best.model, ScalingModel::kAmdahl);
  EXPECT_EQ(choice->candidates.size(), 5u);
}

TEST(ScalingModels, ExtrapolationIsMarked) {
  std::mt19937_64 random(5);
  const auto fit = fit_scaling(sample(amdahl(100, 0.05), 2, 0.01, random), ScalingModel::kAmdahl);
  ASSERT_TRUE(fit);
  EXPECT_FALSE(predict(*fit, 64).extrapolated);
  EXPECT_TRUE(predict(*fit, 65).extrapolated);
}

TEST(ScalingModels, AUslCurveHasItsPeak) {
  std::mt19937_64 random(6);
  const auto fit = fit_scaling(sample(usl(100, 0.02, 0.001), 1, 0, random), ScalingModel::kUsl);
  ASSERT_TRUE(fit);
  ASSERT_EQ(fit->parameters.size(), 4u);
  EXPECT_EQ(fit->parameters[3].name, "peak at");
  EXPECT_NEAR(fit->parameters[3].value, std::sqrt(0.98 / 0.001), 1e-3);
}

TEST(ScalingModels, PointsThatNoLawDescribesAreNamed) {
  std::mt19937_64 random(7);
  auto points = sample(amdahl(100, 0.01), 3, 0.005, random, 64);
  for (double& value : points[4].throughput) value *= 0.8;  // at 16: a slow switch
  const auto choice = choose_scaling_model(points);
  ASSERT_TRUE(choice);
  ASSERT_FALSE(choice->badly_fitted_n.empty());
  EXPECT_NE(std::find(choice->badly_fitted_n.begin(), choice->badly_fitted_n.end(), 16.0),
            choice->badly_fitted_n.end());
  EXPECT_FALSE(choice->notes.empty());
}

TEST(ScalingModels, TwoScalesAreNotEnoughToChoose) {
  const std::vector<ScalingPoint> points = {{1, {100}}, {2, {190}}};
  const auto choice = choose_scaling_model(points);
  EXPECT_FALSE(choice);
  EXPECT_NE(choice.reason().find("3 or more"), std::string::npos);
  EXPECT_TRUE(fit_scaling(points, ScalingModel::kAmdahl));
  EXPECT_FALSE(fit_scaling(points, ScalingModel::kUsl));
}

TEST(ScalingModels, EqualRepetitionsHaveNoSpreadAndNoAccident) {
  const std::vector<ScalingPoint> points = {{1, {100, 100}}, {2, {200, 200}}, {4, {400, 400}}};
  const auto choice = choose_scaling_model(points);
  ASSERT_TRUE(choice);
  EXPECT_NEAR(predict(choice->best, 8).throughput, 800, 1e-6);
}

TEST(ScalingModels, FasterThanLinearIsNotForcedIntoALawButFlagged) {
  std::vector<ScalingPoint> points = {{1, {100}}, {2, {260}}, {4, {640}}, {8, {1500}}};
  const auto amdahl_fit = fit_scaling(points, ScalingModel::kAmdahl);
  ASSERT_TRUE(amdahl_fit);
  EXPECT_EQ(amdahl_fit->parameters[1].value, 0);
  EXPECT_FALSE(amdahl_fit->fit.badly_fitted.empty());
  EXPECT_EQ(choose_scaling_model(points)->best.model, ScalingModel::kPowerLaw);
}

TEST(ScalingModels, NonsenseIsRefused) {
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double wrong : {0.0, -3.0, std::nan(""), infinite}) {
    EXPECT_THROW(fit_scaling(std::vector<ScalingPoint>{{wrong, {1}}, {2, {1}}}, ScalingModel::kAmdahl),
                 Error);
    EXPECT_THROW(fit_scaling(std::vector<ScalingPoint>{{1, {wrong}}, {2, {1}}}, ScalingModel::kAmdahl),
                 Error);
  }
  EXPECT_THROW(choose_scaling_model(std::vector<ScalingPoint>{{1, {}}}), Error);
  EXPECT_FALSE(choose_scaling_model({}));
}

}  // namespace
}  // namespace ddbench::analyzer
