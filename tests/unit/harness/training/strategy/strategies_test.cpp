// Every strategy between real processes: the training of one rank, and the bytes of its theory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/error.h"
#include "harness/training/strategy/strategies.h"
#include "harness/training/strategy/strategy_traffic.h"
#include "probes/recorder/spool.h"
#include "trained_ranks.h"

namespace ddbench::ddp {
namespace {

constexpr std::int64_t kGlobalBatch = 48;
constexpr int kSteps = 30;

RunCase short_case(int world) {
  RunCase run_case = case_of(world, kGlobalBatch);
  run_case.warmup = 0;
  run_case.steps = kSteps;
  run_case.lr = 0.1;
  return run_case;
}

Curve train(const RunCase& run_case) {
  const test::TemporaryDirectory directory;
  return mean_curve(train_ranks(run_case, directory.path()));
}

void expect_alike(const Curve& curve, const Curve& reference, double tolerance, const std::string& what) {
  ASSERT_EQ(curve.losses.size(), reference.losses.size()) << what;
  for (std::size_t step = 0; step < reference.losses.size(); ++step) {
    ASSERT_NEAR(curve.losses[step], reference.losses[step], tolerance * reference.losses[step])
        << what << ", step " << step;
  }
}

/// By theory, for a whole run: zero3 gathers its parameters once more, for their hash.
double sent_in_all(const RunCase& run_case) {
  const double step = strategy_traffic(run_case).sent_bytes;
  return run_case.steps * step + (run_case.strategy == "zero3" ? step / (3 * run_case.accumulate) : 0);
}

struct Setting {
  std::string strategy;
  std::map<std::string, std::string> options;
  double tolerance = 1e-4;
};

std::string name_of(const Setting& setting) {
  std::string name = setting.strategy;
  for (const auto& [key, value] : setting.options) name += "_" + key + "_" + value;
  return name;
}

void PrintTo(const Setting& setting, std::ostream* out) {
  *out << name_of(setting);
}

const std::vector<Setting> kSettings{{"ddp", {}},
                                     {"ddp", {{"hook", "fp16"}}, 2e-3},
                                     {"ddp", {{"hook", "bf16"}}, 1e-2},
                                     {"ddp", {{"overlap", "off"}}},
                                     {"zero1", {}},
                                     {"zero2", {}},
                                     {"zero3", {}},
                                     {"horovod", {}},
                                     {"horovod", {{"fusion_mb", "0"}, {"cycle_ms", "2"}}},
                                     {"mirrored", {}},
                                     {"mirrored", {{"pack_mb", "1"}}},
                                     {"ps", {}},
                                     {"ps", {{"servers", "2"}}}};

class EachStrategy : public testing::TestWithParam<Setting> {
 protected:
  static RunCase with_strategy(RunCase run_case) {
    run_case.strategy = GetParam().strategy;
    run_case.strategy_options = GetParam().options;
    return run_case;
  }
};

TEST_P(EachStrategy, TrainsAsOneRankAndSendsWhatTheorySays) {
  RunCase alone = short_case(1);
  alone.weight_decay = 0.01;
  static const Curve reference = train(alone);  // the same for all strategies
  EXPECT_LT(reference.losses.back(), 0.8 * reference.losses.front());
  RunCase run_case = with_strategy(short_case(3));
  run_case.weight_decay = alone.weight_decay;
  const Curve curve = train(run_case);
  expect_alike(curve, reference, GetParam().tolerance, "3 ranks");
  const StrategyTraffic traffic = strategy_traffic(run_case);
  EXPECT_GT(traffic.sent_bytes, 0);
  EXPECT_NEAR(curve.sent_bytes, sent_in_all(run_case), kSteps) << traffic.formula;
}

class EachPlainStrategy : public EachStrategy {};

TEST_P(EachPlainStrategy, AccumulatesWithoutCommunication) {
  RunCase run_case = with_strategy(short_case(2));
  run_case.steps = 10;
  const Curve whole = train(run_case);
  run_case.accumulate = 4;
  const Curve in_parts = train(run_case);
  expect_alike(in_parts, whole, std::max(GetParam().tolerance, 1e-4), "four micro-batches");
  EXPECT_NEAR(in_parts.sent_bytes, sent_in_all(run_case), run_case.steps);
  if (run_case.strategy == "zero2") {  // it keeps no whole gradient that could wait
    EXPECT_NEAR(in_parts.sent_bytes, 2.5 * whole.sent_bytes, 1);
  } else if (run_case.strategy == "zero3") {  // nor its parameters
    EXPECT_NEAR(in_parts.sent_bytes / whole.sent_bytes, (4 * 10 * 3.0 + 1) / (10 * 3.0 + 1), 1e-6);
  } else {
    EXPECT_NEAR(in_parts.sent_bytes, whole.sent_bytes, 1);
  }
}

constexpr auto kName = [](const testing::TestParamInfo<Setting>& instance) {
  return name_of(instance.param);
};
INSTANTIATE_TEST_SUITE_P(All, EachStrategy, testing::ValuesIn(kSettings), kName);
INSTANTIATE_TEST_SUITE_P(All, EachPlainStrategy,
                         testing::Values(Setting{"ddp", {}}, Setting{"zero1", {}}, Setting{"zero2", {}},
                                         Setting{"zero3", {}}, Setting{"horovod", {}}, Setting{"mirrored", {}}, Setting{"ps", {}}),
                         kName);

TEST(Optimizers, ShardedAndServedStateGivesTheSameTraining) {
  for (const auto& [optimizer, lr] :
       std::map<std::string, double>{{"adamw", 2e-3}, {"lars", 0.5}, {"lamb", 2e-2}}) {
    RunCase run_case = short_case(1);
    run_case.optimizer = optimizer;
    run_case.lr = lr;
    run_case.weight_decay = 0.01;
    const Curve reference = train(run_case);
    EXPECT_GT(std::abs(reference.losses.back() - reference.losses.front()), 0.02) << optimizer;
    RunCase many = short_case(2);
    many.optimizer = optimizer;
    many.lr = lr;
    many.weight_decay = run_case.weight_decay;
    for (const std::string strategy : {"ddp", "zero2", "ps"}) {
      if (strategy == "zero2" && optimizer != "adamw") continue;  // refused
      many.strategy = strategy;
      expect_alike(train(many), reference, 1e-3, optimizer + " on " + strategy);
    }
  }
}

TEST(Traffic, OfTheBusiestServer) {
  RunCase run_case = short_case(4);
  run_case.strategy = "ps";
  const double all = 4.0 * (784 * 96 + 96 + 96 * 64 + 64 + 64 * 10 + 10);
  const StrategyTraffic one = strategy_traffic(run_case);
  EXPECT_DOUBLE_EQ(one.sent_bytes, 1.5 * all);
  EXPECT_DOUBLE_EQ(one.busiest_sent_bytes, 3 * all);
  EXPECT_DOUBLE_EQ(one.busiest_received_bytes, 3 * all);
  run_case.strategy_options = {{"servers", "2"}};
  const double largest = 4.0 * 784 * 96;  // the other server has all the rest
  EXPECT_DOUBLE_EQ(strategy_traffic(run_case).busiest_sent_bytes, 3 * largest + (all - largest));
}

TEST(Horovod, FusesAsMuchAsHorovodDoes) {
  const StrategyInfo& horovod = strategy_info("horovod");
  for (const StrategyOption& option : horovod.options) {
    EXPECT_EQ(option.default_value, option.name == "fusion_mb" ? "128" : "1") << option.name;
  }
  RunCase run_case = short_case(2);
  run_case.strategy = "horovod";
  const std::vector<std::int64_t> large{std::int64_t{300} << 20};
  const workload::ParameterUses uses;
  EXPECT_EQ(horovod.memory(run_case, {large, uses}, 0)[device::MemoryUse::kBuckets], 128 << 20);
}

TEST(NoiseScalars, AreTheSquaredNormsBeforeAndAfterTheAverage) {
  // Plain SGD without momentum from equal parameters: the step itself gives the averaged gradient's norm, and
  // strategies that shard must agree with one that does not.
  std::map<std::string, std::map<std::uint32_t, double>> mean_square;
  std::map<std::uint32_t, double> local_square;
  for (const std::string strategy : {"ddp", "zero1", "ps", "horovod"}) {
    const test::TemporaryDirectory directory;
    RunCase run_case = short_case(3);
    run_case.steps = 12;
    run_case.strategy = strategy;
    mean_curve(train_ranks(run_case, directory.path()));
    for (int rank = 0; rank < 3; ++rank) {
      const host::SpoolBatch batch =
          host::SpoolReader(directory.path() / fmt::format("{}.spool", rank)).read();
      for (const host::Scalar& scalar : batch.scalars) {
        const std::string& name = batch.new_names.at(scalar.name_id);
        if (name == "gradient_square_mean") mean_square[strategy][scalar.step] += scalar.value / 3;
        if (name == "gradient_square_local" && strategy == "ddp")
          local_square[scalar.step] += scalar.value / 3;
      }
    }
  }
  ASSERT_EQ(mean_square["ddp"].size(), 3U) << "one step of four";
  for (const auto& [step, square] : mean_square["ddp"]) {
    EXPECT_GT(square, 0);
    EXPECT_GT(local_square[step], square) << "smaller batches are noisier";
    if (step > 5) continue;  // rounding has led the strategies apart
    for (const char* other : {"zero1", "ps", "horovod"}) {
      EXPECT_NEAR(mean_square[other][step], square, 1e-3 * square) << other << ", step " << step;
    }
  }
}

TEST(TargetLoss, EndsTheRunOnAllRanksInTheSameStep) {
  RunCase run_case = short_case(2);
  run_case.steps = 400;
  run_case.target_loss = 1.2;
  const test::TemporaryDirectory directory;
  const Curve curve = mean_curve(train_ranks(run_case, directory.path()));
  ASSERT_LT(curve.losses.size(), 400U);
  const std::size_t window = (2048 + kGlobalBatch - 1) / kGlobalBatch;
  ASSERT_GE(curve.losses.size(), window);
  const auto mean_until = [&](std::size_t end) {
    double sum = 0;
    for (std::size_t i = end - window; i < end; ++i) sum += curve.losses[i];
    return sum / static_cast<double>(window);
  };
  EXPECT_LE(mean_until(curve.losses.size()), 1.2 + 1e-6);
  EXPECT_GT(mean_until(curve.losses.size() - 1), 1.2 - 1e-6) << "it was reached before";
}

}  // namespace
}  // namespace ddbench::ddp
