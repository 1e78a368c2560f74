// What a scaled loss does to training, between real processes.
#include <gtest/gtest.h>

#include <numeric>

#include "probes/recorder/spool.h"
#include "trained_ranks.h"

namespace ddbench::ddp {
namespace {

RunCase case_with(const std::string& strategy, int world, const std::string& loss_scale) {
  RunCase run_case = case_of(world, 48);
  run_case.warmup = 0;
  run_case.steps = 40;
  run_case.strategy = strategy;
  run_case.loss_scale = loss_scale;
  return run_case;
}

struct Training {
  Curve curve;
  std::vector<double> scale;    ///< by step
  std::vector<double> skipped;  ///< by step, 0 or 1
  double skipped_steps() const { return std::accumulate(skipped.begin(), skipped.end(), 0.0); }
};

Training train_with_scale(const RunCase& run_case) {
  const test::TemporaryDirectory directory;
  Training training{mean_curve(train_ranks(run_case, directory.path())), {}, {}};
  const host::SpoolBatch batch = host::SpoolReader(directory.path() / "0.spool").read();
  for (const host::Scalar& scalar : batch.scalars) {
    const std::string& name = batch.new_names.at(scalar.name_id);
    if (name == "loss_scale") training.scale.push_back(scalar.value);
    if (name == "skipped_update") training.skipped.push_back(scalar.value);
  }
  return training;
}

TEST(LossScaling, APowerOfTwoChangesNoBitOfTheTraining) {
  for (const std::string strategy : {"ddp", "zero1", "zero2", "zero3", "horovod", "mirrored", "ps"}) {
    const Training plain = train_with_scale(case_with(strategy, 2, ""));
    const Training scaled = train_with_scale(case_with(strategy, 2, "4096"));
    EXPECT_EQ(scaled.curve.hash, plain.curve.hash) << strategy;
    EXPECT_TRUE(plain.scale.empty());
    EXPECT_EQ(scaled.scale, std::vector<double>(40, 4096));
    EXPECT_EQ(scaled.skipped_steps(), 0) << strategy;
    EXPECT_LT(scaled.curve.losses.back(), 0.9 * scaled.curve.losses.front()) << "it learnt nothing";
  }
}

// A learning rate that is too high lets gradients grow beyond what the numbers hold.
constexpr double kHighRate = 0.3;

TEST(LossScaling, TheDynamicScaleIsHalvedWhereGradientsDoNotFit) {
  RunCase run_case = case_with("ddp", 2, "dynamic");
  run_case.strategy_options = {{"hook", "fp16"}};  // ends at 65,504
  run_case.lr = 3 * kHighRate;
  const Training training = train_with_scale(run_case);
  ASSERT_EQ(training.scale.size(), 40U);
  EXPECT_EQ(training.scale.front(), 65536);
  EXPECT_GT(training.skipped_steps(), 0);
  EXPECT_LT(training.skipped_steps(), 20);
  for (std::size_t step = 1; step < training.scale.size(); ++step) {
    EXPECT_EQ(training.scale[step], training.scale[step - 1] / (training.skipped[step - 1] == 1 ? 2 : 1))
        << step;
  }
}

TEST(LossScaling, AnOverflowOfOneShardStopsTheUpdateOfAllRanks) {
  for (const std::string strategy : {"zero1", "zero2", "zero3", "ps"}) {
    RunCase run_case = case_with(strategy, 3, "3e38");
    run_case.lr = kHighRate;
    const Training training = train_with_scale(run_case);  // whose ranks must end with equal parameters
    EXPECT_GT(training.skipped_steps(), 0) << strategy;
    EXPECT_LT(training.skipped_steps(), 40) << strategy;
  }
}

}  // namespace
}  // namespace ddbench::ddp
