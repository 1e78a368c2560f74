#include "analyzer/batch/batch_analysis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/error.h"
#include "core/run_case/loss_window.h"
#include "coverage.h"
#include "stored_runs.h"
#include "synthetic_run.h"

namespace ddbench::analyzer {
namespace {

using test::Coverage;

constexpr double kFewestSteps = 200;
constexpr double kCritical = 512;
constexpr double kTarget = 0.25;

/// Runs that reach the target after so many steps, as their smoothed losses say.
class BatchStore {
 public:
  struct Run {
    int gpus = 1;
    std::int64_t batch_per_gpu = 64;
    double steps = 100;
    double step_ms = 10;
    std::string lr_rule = "none";
    double lr = 0.1;
    double target = kTarget;
    bool reaches = true;
    std::string sku = {};
  };

  store::RunId add(const Run& run) {
    test::StoredRun stored;
    stored.run_case = test::sized(1, run.gpus);
    stored.run_case.batch_per_gpu = run.batch_per_gpu;
    stored.run_case.lr_rule = choice_from<LearningRateRule>("lr_rule", run.lr_rule);
    stored.run_case.base_batch = run.lr_rule == "none" ? 0 : 64;
    stored.run_case.lr = run.lr;
    stored.run_case.target_loss = run.target;
    stored.run_case.seed = ++seed_;
    stored.run_case.sku = run.sku;
    stored.step_ms = run.step_ms;
    const store::RunId id = add_run(store_.get(), stored);
    const auto last =
        static_cast<std::uint32_t>(std::lround(run.steps + loss_window_delay_steps(stored.run_case))) - 1;
    std::vector<std::pair<std::uint32_t, double>> losses = {{0, 2.0},
                                                            {last, run.reaches ? kTarget : kTarget * 1.01}};
    if (run.steps > 2) losses.insert(losses.begin() + 1, {last - 1, kTarget * 1.001});
    store_.get().append_step_values(id, 0, kSmoothedLoss, losses);
    return id;
  }

  /// The norms of a gradient of length 1 whose noise has the trace `noise`, for so many measured steps.
  void add_norms(const store::RunId& id, int ranks, double batch_per_gpu, double noise, int steps,
                 std::mt19937_64& random) {
    constexpr int kDimensions = 8;
    std::normal_distribution<double> normal(0, std::sqrt(noise / kDimensions / batch_per_gpu));
    for (int step = 0; step < steps; ++step) {
      std::vector<double> average(kDimensions, 0.0);
      std::vector<double> squares;
      for (int rank = 0; rank < ranks; ++rank) {
        squares.push_back(0);
        for (int d = 0; d < kDimensions; ++d) {
          const double value = normal(random) + (d == 0 ? 1 : 0);
          squares.back() += value * value;
          average[static_cast<std::size_t>(d)] += value / ranks;
        }
      }
      double mean_square = 0;
      for (const double value : average) mean_square += value * value;
      const auto at = static_cast<std::uint32_t>(100 + 4 * step);
      for (int rank = 0; rank < ranks; ++rank) {
        const std::pair<std::uint32_t, double> local[] = {{at, squares[static_cast<std::size_t>(rank)]}};
        // Shards differ; only their mean over ranks is the norm.
        const std::pair<std::uint32_t, double> mean[] = {{at, mean_square * 2 * rank / (ranks - 1)}};
        store_.get().append_step_values(id, rank, kGradientSquareLocal, local);
        store_.get().append_step_values(id, rank, kGradientSquareMean, mean);
      }
    }
  }

  store::RunStore& get() { return store_.get(); }
  BatchAnalysis analysis(const SkuCatalogue& catalogue = SkuCatalogue::builtin()) {
    std::vector<store::RunRecord> runs = store_.get().runs();
    return batch_analysis(store_.get(), runs, catalogue);
  }

 private:
  ScratchStore store_;
  std::uint64_t seed_ = 0;
};

double steps_at(double batch) {
  return kFewestSteps * (1 + kCritical / batch);
}

void add_sweep(BatchStore& store, double spread, std::mt19937_64& random, const std::string& rule = "none") {
  std::normal_distribution<double> normal(1, spread);
  for (int batch = 32; batch <= 8192; batch *= 4) {
    for (int repetition = 0; repetition < 3; ++repetition)
      store.add(
          {.batch_per_gpu = batch, .steps = std::round(steps_at(batch) * normal(random)), .lr_rule = rule});
  }
}

TEST(BatchAnalysis, FindsTheCriticalBatchInItsInterval) {
  std::mt19937_64 random(5);
  Coverage coverage;
  for (int i = 0; i < 20; ++i) {
    BatchStore store;
    add_sweep(store, 0.05, random);
    const BatchAnalysis analysis = store.analysis();
    ASSERT_EQ(analysis.curves.size(), 1U);
    ASSERT_TRUE(analysis.curves[0].critical) << analysis.curves[0].critical.reason();
    const auto& batch = analysis.curves[0].critical->batch;
    ASSERT_TRUE(batch) << batch.reason();
    EXPECT_GT(batch->value, kCritical / 1.5);
    EXPECT_LT(batch->value, kCritical * 1.5);
    coverage.add(batch->interval, kCritical);
  }
  EXPECT_GE(coverage.share(), 0.95 - coverage.tolerance());
}

TEST(BatchAnalysis, ARowHasStepsSamplesTimeAndCost) {
  BatchStore store;
  store.add({.gpus = 2, .batch_per_gpu = 64, .steps = 1000, .step_ms = 36, .sku = "mine"});
  SkuCatalogue catalogue = SkuCatalogue::builtin();
  catalogue.set_price("mine=50");
  const BatchAnalysis analysis = store.analysis(catalogue);
  ASSERT_EQ(analysis.curves.size(), 1U);
  ASSERT_EQ(analysis.curves[0].rows.size(), 1U);
  const BatchRow& row = analysis.curves[0].rows[0];
  EXPECT_NEAR(*row.steps, 1000, 0.5);
  EXPECT_NEAR(*row.samples, 128'000, 64);
  EXPECT_NEAR(*row.time_s, 36, 0.02);
  EXPECT_NEAR(*row.gpu_hours, 0.02, 1e-5);
  EXPECT_NEAR(*row.usd, 0.5, 3e-4);
  EXPECT_FALSE(analysis.curves[0].critical);
  EXPECT_NE(analysis.curves[0].critical.reason().find("3 or more"), std::string::npos);
  EXPECT_FALSE(store.analysis().curves[0].rows[0].usd) << "no such SKU in the catalogue";
}

TEST(BatchAnalysis, RunsOfSeveralSkusHaveStepsButNoCommonTime) {
  BatchStore store;
  store.add({.gpus = 2, .steps = 1000, .step_ms = 100, .sku = "slow"});
  store.add({.gpus = 2, .steps = 1000, .step_ms = 50, .sku = "fast"});
  SkuCatalogue catalogue = SkuCatalogue::builtin();
  catalogue.set_price("slow=10");
  catalogue.set_price("fast=40");
  const BatchAnalysis analysis = store.analysis(catalogue);
  ASSERT_EQ(analysis.curves.size(), 1U);
  ASSERT_EQ(analysis.curves[0].rows.size(), 1U);
  const BatchRow& row = analysis.curves[0].rows[0];
  EXPECT_NEAR(*row.steps, 1000, 0.5);
  EXPECT_NE(row.step_time_ns.reason().find("--where sku="), std::string::npos) << row.step_time_ns.reason();
  EXPECT_FALSE(row.time_s);
  EXPECT_FALSE(row.gpu_hours);
  EXPECT_FALSE(row.usd);
}

TEST(BatchAnalysis, AddedGpusOfAnotherSkuHaveNoReturn) {
  BatchStore store;
  store.add({.gpus = 1, .steps = 1000, .step_ms = 100, .sku = "slow"});
  store.add({.gpus = 2, .steps = 600, .step_ms = 50, .sku = "fast"});
  const BatchAnalysis analysis = store.analysis();
  for (const BatchRow& row : analysis.curves[0].rows) EXPECT_FALSE(row.return_of_added);
}

TEST(BatchAnalysis, RunsThatDidNotArriveCountAsLonger) {
  BatchStore store;
  store.add({.steps = 1000});
  store.add({.steps = 1100});
  store.add({.steps = 1300, .reaches = false});
  store.add({.batch_per_gpu = 128, .steps = 50, .reaches = false});
  const BatchAnalysis analysis = store.analysis();
  ASSERT_EQ(analysis.curves[0].rows.size(), 2U);
  EXPECT_EQ(analysis.curves[0].rows[0].missed, 1);
  EXPECT_NEAR(analysis.curves[0].rows[0].unreached_after.at(0), 1300, 0.5);
  EXPECT_GT(*analysis.curves[0].rows[0].steps, 3400 / 3.0);
  EXPECT_LT(*analysis.curves[0].rows[0].steps, 1250);
  EXPECT_FALSE(analysis.curves[0].rows[1].steps);
  EXPECT_FALSE(analysis.curves[0].rows[1].time_s);
}

TEST(BatchAnalysis, RulesOfTheLearningRateAreCurvesOfTheirOwn) {
  BatchStore store;
  std::mt19937_64 random(1);
  add_sweep(store, 0.02, random, "linear");
  add_sweep(store, 0.02, random, "sqrt");
  const BatchAnalysis analysis = store.analysis();
  ASSERT_EQ(analysis.curves.size(), 2U);
  EXPECT_NE(analysis.curves[0].variant.find("lr_rule=linear"), std::string::npos)
      << analysis.curves[0].variant;
  EXPECT_NE(analysis.curves[1].variant.find("lr_rule=sqrt"), std::string::npos);
}

TEST(BatchAnalysis, OfSeveralLearningRatesTheBestOneCounts) {
  BatchStore store;
  for (const auto& [lr, steps] : {std::pair{0.1, 900.0}, {0.2, 500.0}, {0.4, 700.0}})
    store.add({.steps = steps, .lr = lr});
  store.add({.steps = 100, .lr = 0.8, .reaches = false});
  const BatchCurve curve = store.analysis().curves.at(0);
  ASSERT_EQ(curve.rows.size(), 1U);
  EXPECT_DOUBLE_EQ(curve.rows[0].run_case.lr, 0.2);
  EXPECT_NEAR(*curve.rows[0].steps, 500, 0.5);
  ASSERT_FALSE(curve.notes.empty());
  EXPECT_NE(curve.notes[0].find("of 4 learning rates the best one, 0.2"), std::string::npos)
      << curve.notes[0];
}

TEST(BatchAnalysis, ALearningRateIsNotJudgedOnTheRunsThatSelectedIt) {
  // Every rate needs 1,000 steps, give or take 10%: the best of eight by its own two runs is flattered.
  std::mt19937_64 random(20261122);
  double sum = 0;
  constexpr int kSweeps = 60;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    BatchStore store;
    for (int rate = 1; rate <= 8; ++rate) {
      for (int repetition = 0; repetition < 2; ++repetition)
        store.add({.steps = std::round(test::noisy(1000, 0.1, random)), .lr = 0.1 * rate});
    }
    const BatchCurve curve = store.analysis().curves.at(0);
    EXPECT_NE(curve.notes.at(0).find("judged on the others"), std::string::npos) << curve.notes.at(0);
    sum += *curve.rows.at(0).steps;
  }
  EXPECT_NEAR(sum / kSweeps, 1005, 3 * 100 / std::sqrt(1.5 * kSweeps));
}

TEST(BatchAnalysis, TheDelayOfTheSmoothingWindowIsTakenOff) {
  // 2,048 samples are 32 steps of 64: their mean is 15.5 steps behind.
  BatchStore store;
  const store::RunId id = store.add({.steps = 100});
  const StepsTowardsTarget steps = steps_towards_target(store.get(), *store.get().run(id)).value();
  EXPECT_TRUE(steps.reached);
  const auto recorded = store.get().step_values(id, 0, kSmoothedLoss).back().first;
  EXPECT_DOUBLE_EQ(steps.steps, recorded + 1 - 15.5);
}

TEST(BatchAnalysis, MoreGpusPayUpToTheCriticalBatchWhereScalingLosesNothing) {
  BatchStore store;
  for (const int gpus : {1, 2, 4, 8, 16, 32})
    // At the critical batch exactly half: a step less than that, as recorded steps are whole.
    store.add({.gpus = gpus,
               .batch_per_gpu = 64,
               .steps = std::round(100 * steps_at(64.0 * gpus)) - (gpus == 8 ? 1 : 0)});
  const BatchCurve curve = store.analysis().curves.at(0);
  ASSERT_TRUE(curve.pays_up_to) << curve.pays_up_to.reason();
  EXPECT_DOUBLE_EQ(*curve.pays_up_to, kCritical);
  EXPECT_FALSE(curve.rows[0].return_of_added);
  // (1 + 512/64)/(1 + 512/128) - 1 = 9/5 - 1
  EXPECT_NEAR(*curve.rows[1].return_of_added, 0.8, 1e-3);
}

TEST(BatchAnalysis, StepsThatGetLongerMakeGpusPayLess) {
  BatchStore store;
  for (const int gpus : {1, 2, 4, 8}) {
    store.add({.gpus = gpus,
               .batch_per_gpu = 64,
               .steps = std::round(steps_at(64.0 * gpus)),
               .step_ms = 10 * (1 + 0.3 * std::log2(gpus))});
  }
  const BatchCurve curve = store.analysis().curves.at(0);
  EXPECT_FALSE(curve.pays_up_to) << *curve.pays_up_to;
  BatchStore one_size;
  one_size.add({});
  EXPECT_NE(one_size.analysis().curves.at(0).pays_up_to.reason().find("several numbers of GPUs"),
            std::string::npos);
}

TEST(BatchAnalysis, TheNoiseScaleComesFromTheNormsOfAllRanks) {
  std::mt19937_64 random(9);
  Coverage coverage;
  for (int i = 0; i < 20; ++i) {
    BatchStore store;
    const store::RunId id = store.add({.gpus = 4, .batch_per_gpu = 16, .target = 0});
    store.add_norms(id, 4, 16, 120, 60, random);
    const BatchAnalysis analysis = store.analysis();
    EXPECT_EQ(analysis.target_loss, 0);
    const BatchRow& row = analysis.curves.at(0).rows.at(0);
    ASSERT_TRUE(row.noise) << row.noise.reason();
    EXPECT_EQ(row.noise->steps, 60U);
    ASSERT_TRUE(row.noise->samples) << row.noise->samples.reason();
    coverage.add(row.noise->samples->interval, 120);
  }
  EXPECT_GE(coverage.share(), 0.95 - coverage.tolerance());
}

TEST(BatchAnalysis, NormsThatARankLacksAreLeftOut) {
  BatchStore store;
  std::mt19937_64 random(9);
  const store::RunId id = store.add({.gpus = 2, .batch_per_gpu = 16});
  store.add_norms(id, 2, 16, 100, 6, random);
  const std::pair<std::uint32_t, double> alone[] = {{400, 1.0}, {2, 1.0}};
  store.get().append_step_values(id, 0, kGradientSquareLocal, alone);
  store.get().append_step_values(id, 0, kGradientSquareMean, alone);
  EXPECT_EQ(gradient_norms(store.get(), *store.get().run(id)).size(), 6U);
}

std::string complaint(BatchStore& store) {
  try {
    store.analysis();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    return error.message();
  }
  return "";
}

TEST(BatchAnalysis, RefusesWhatCannotBeCompared) {
  BatchStore targets;
  targets.add({.target = 0.25});
  targets.add({.target = 0.5});
  EXPECT_NE(complaint(targets).find("0.25, 0.5"), std::string::npos);
  BatchStore nothing;
  nothing.add({.target = 0});
  EXPECT_NE(complaint(nothing).find("--target-loss"), std::string::npos);
}

}  // namespace
}  // namespace ddbench::analyzer
