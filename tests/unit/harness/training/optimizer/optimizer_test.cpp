// Optimizers against their formulas in double, learning-rate rules, and the smoothed loss of a target.
#include "harness/training/optimizer/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "core/error.h"
#include "forked_ranks.h"
#include "core/run_case/learning_rate.h"
#include "harness/training/step/loss_target.h"
#include "probes/recorder/recorder.h"

namespace ddbench::ddp {
namespace {

using device::Tensor;
using Numbers = std::vector<double>;

double norm(const Numbers& values) {
  return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

/// One matrix of 2 x 6 and one vector of 5, stepped side by side with their formula.
class Optimizers : public testing::Test {
 protected:
  Optimizers() {
    case_.lr = 0.1;
    case_.weight_decay = 0.05;
    slices_ = {slice("weight", 2, 6), slice("bias", 1, 5)};
  }

  Slice slice(const std::string& name, std::int64_t rows, std::int64_t columns) {
    const auto tensor = [&] {
      memory_.push_back(device_->allocate(rows * columns * 4));
      return Tensor{memory_.back().data(), 1, rows * columns};
    };
    return {.name = name, .is_matrix = rows > 1, .value = tensor(), .gradient = tensor()};
  }
  static Numbers numbers(const Tensor& tensor) { return {tensor.floats().begin(), tensor.floats().end()}; }

  struct State {
    Numbers first, second;
  };
  /// (step from 1, is a matrix, gradient, state, value in and out)
  using Formula = std::function<void(int, bool, const Numbers&, State&, Numbers&)>;

  void expect_follows(const std::string& name, const Formula& formula) {
    case_.optimizer = name;
    const auto optimizer = make_optimizer(case_, slices_, *device_, probe_);
    std::vector<State> states;
    std::vector<Numbers> values;
    for (std::size_t i = 0; i < slices_.size(); ++i) {
      float next = 0.3F;
      for (float& value : slices_[i].value.floats()) value = next = -next * 1.07F;
      values.push_back(numbers(slices_[i].value));
      states.push_back({Numbers(values[i].size()), Numbers(values[i].size())});
    }
    for (int step = 1; step <= 4; ++step) {
      for (std::size_t i = 0; i < slices_.size(); ++i) {
        float next = 0.2F * static_cast<float>(step);
        for (float& gradient : slices_[i].gradient.floats()) gradient = next = 0.4F - next * 1.3F;
        formula(step, slices_[i].is_matrix, numbers(slices_[i].gradient), states[i], values[i]);
        optimizer->update(i, static_cast<std::uint32_t>(step) - 1, case_.lr);
        for (std::size_t k = 0; k < values[i].size(); ++k) {
          ASSERT_NEAR(slices_[i].value.floats()[k], values[i][k], 3e-6)
              << slices_[i].name << " " << k << ", step " << step;
        }
      }
    }
    EXPECT_EQ(optimizer->state().size(), slices_.size() * static_cast<std::size_t>(optimizer_states(name)));
    EXPECT_EQ(optimizer->state()[1].name.rfind("bias/", 0), 0U);
  }

  test::TemporaryDirectory directory_;
  host::Recorder recorder_{host::RecorderOptions{.spool = directory_.path() / "spool", .run_id = "test"}};
  workload::Probe probe_{recorder_};
  std::unique_ptr<device::Device> device_ = device::make_device("cpu");
  std::vector<device::Buffer> memory_;
  std::vector<Slice> slices_;
  RunCase case_;
};

TEST_F(Optimizers, SgdWithMomentumAndDecay) {
  expect_follows("sgd", [](int, bool, const Numbers& g, State& state, Numbers& w) {
    for (std::size_t i = 0; i < w.size(); ++i) {
      state.first[i] = 0.9 * state.first[i] + g[i] + 0.05 * w[i];
      w[i] -= 0.1 * state.first[i];
    }
  });
}

TEST_F(Optimizers, LarsScalesMatricesByTheirNorms) {
  expect_follows("lars", [](int, bool matrix, const Numbers& g, State& state, Numbers& w) {
    const double decay = matrix ? 0.05 : 0;
    const double trust = matrix ? 0.001 * norm(w) / (norm(g) + decay * norm(w)) : 1;
    for (std::size_t i = 0; i < w.size(); ++i) {
      state.first[i] = 0.9 * state.first[i] + trust * (g[i] + decay * w[i]);
      w[i] -= 0.1 * state.first[i];
    }
  });
}

void adam(int step, const Numbers& g, Numbers& first, Numbers& second, Numbers& direction, double epsilon) {
  for (std::size_t i = 0; i < g.size(); ++i) {
    first[i] = 0.9 * first[i] + 0.1 * g[i];
    second[i] = 0.999 * second[i] + 0.001 * g[i] * g[i];
    direction[i] =
        first[i] / (1 - std::pow(0.9, step)) / (std::sqrt(second[i] / (1 - std::pow(0.999, step))) + epsilon);
  }
}

TEST_F(Optimizers, AdamwDecaysApartFromTheGradient) {
  expect_follows("adamw", [](int step, bool, const Numbers& g, State& state, Numbers& w) {
    Numbers direction(w.size());
    adam(step, g, state.first, state.second, direction, 1e-8);
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = w[i] * (1 - 0.1 * 0.05) - 0.1 * direction[i];
  });
}

TEST_F(Optimizers, LambScalesMatricesByTheirNorms) {
  expect_follows("lamb", [](int step, bool matrix, const Numbers& g, State& state, Numbers& w) {
    Numbers direction(w.size());
    adam(step, g, state.first, state.second, direction, 1e-6);
    for (std::size_t i = 0; i < w.size(); ++i) direction[i] += (matrix ? 0.05 : 0) * w[i];
    const double trust = matrix ? norm(w) / norm(direction) : 1;
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= 0.1 * trust * direction[i];
  });
}

TEST_F(Optimizers, PartsOfLayersAreRefusedWhereLayersCount) {
  slices_[0].is_whole = false;
  slices_[0].name = "weight[0:6]";
  case_.optimizer = "sgd";
  make_optimizer(case_, slices_, *device_, probe_);
  case_.optimizer = "lamb";
  try {
    make_optimizer(case_, slices_, *device_, probe_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "optimizer lamb needs whole parameters, but this rank has weight[0:6]");
  }
}

TEST(LearningRate, FollowsItsRuleAndWarmsUp) {
  RunCase run_case;
  run_case.lr = 0.1;
  run_case.batch_per_gpu = 64;
  run_case.gpus_per_node = 16;
  EXPECT_DOUBLE_EQ(learning_rate(run_case, 0), 0.1);
  run_case.base_batch = 64;
  EXPECT_DOUBLE_EQ(learning_rate(run_case, 0), 0.1) << "no rule, no change";
  run_case.lr_rule = LearningRateRule::kLinear;
  EXPECT_DOUBLE_EQ(learning_rate(run_case, 0), 1.6);
  run_case.lr_rule = LearningRateRule::kSquareRoot;
  EXPECT_DOUBLE_EQ(learning_rate(run_case, 1000), 0.4);
  run_case.lr_warmup = 5;
  const double expected[] = {0.08, 0.16, 0.24, 0.32, 0.4, 0.4};
  for (std::uint32_t step = 0; step < 6; ++step)
    EXPECT_DOUBLE_EQ(learning_rate(run_case, step), expected[step]);
}

TEST(TargetOfLoss, IsComparedWithTheMeanOverTheSameNumberOfSamples) {
  RunCase run_case;
  run_case.batch_per_gpu = 1024;
  run_case.target_loss = 1;
  LossTarget target(run_case);  // 2,048 samples: two steps
  EXPECT_TRUE(std::isnan(target.add(0.5)));
  EXPECT_FALSE(target.reached()) << "one step is not samples enough";
  EXPECT_DOUBLE_EQ(target.add(2.5), 1.5);
  EXPECT_DOUBLE_EQ(target.add(0.1), 1.3);
  EXPECT_FALSE(target.reached());
  EXPECT_DOUBLE_EQ(target.add(1.9), 1.0);
  EXPECT_TRUE(target.reached());
  target.add(100);
  EXPECT_TRUE(target.reached()) << "once reached, it stays so";
  run_case.batch_per_gpu = 3000;
  LossTarget large(run_case);
  EXPECT_DOUBLE_EQ(large.add(0.9), 0.9);
  EXPECT_TRUE(large.reached()) << "one step of a large batch is enough";
}

TEST(TargetOfLoss, NotANumberNeverReachesIt) {
  RunCase run_case;
  run_case.batch_per_gpu = 4096;
  run_case.target_loss = 1;
  LossTarget target(run_case);
  target.add(NAN);
  EXPECT_FALSE(target.reached());
}

}  // namespace
}  // namespace ddbench::ddp
