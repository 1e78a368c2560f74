// The gradients of the whole model against finite differences of its loss, computed by plain loops in double
// precision.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "device_under_test.h"
#include "forked_ranks.h"
#include "harness/model/architectures/registry.h"
#include "harness/model/random.h"
#include "probes/recorder/recorder.h"

namespace ddbench::workload {
namespace {

using device::Tensor;
using Numbers = std::vector<double>;

constexpr std::int64_t kBatch = 6;

class MlpGradients : public testing::Test {
 protected:
  void SetUp() override {
    for (const ParameterSpec& spec : workload_->parameters()) {
      parameters_.push_back({spec, tensor(spec.rows, spec.columns), tensor(spec.rows, spec.columns)});
    }
    initialize(*device_, parameters_, 3);
    model_ = workload_->make_model(*device_, parameters_, kBatch, probe_);
    const auto dataset = workload_->make_dataset("synthetic", 1);
    batch_ = {tensor(kBatch, 784), tensor(kBatch, 1, device::DataType::kInt32)};
    for (std::int64_t i = 0; i < kBatch; ++i) {
      dataset->read(i, sample_of(batch_, static_cast<std::size_t>(i)));
    }
  }

  Tensor tensor(std::int64_t rows, std::int64_t columns, device::DataType type = device::DataType::kFloat32) {
    memory_.push_back(device_->allocate(rows * columns * size_of(type)));
    return {memory_.back().data(), rows, columns, type};
  }

  /// The loss with parameter `which`, element `at`, moved by `delta`.
  double reference_loss(std::size_t which = 0, std::int64_t at = 0, double delta = 0) const {
    double loss = 0;
    for (std::int64_t b = 0; b < kBatch; ++b) {
      const auto input = batch_.inputs.floats().subspan(static_cast<std::size_t>(b * 784), 784);
      Numbers x(input.begin(), input.end());
      for (std::size_t layer = 0; 2 * layer < parameters_.size(); ++layer) {
        const Parameter& weight = parameters_[2 * layer];
        const Parameter& bias = parameters_[2 * layer + 1];
        const auto value = [&](const Parameter& parameter, std::size_t index, std::int64_t element) {
          return parameter.value.floats()[element] + (index == which && element == at ? delta : 0.0);
        };
        Numbers y;
        for (std::int64_t o = 0; o < weight.spec.rows; ++o) {
          double sum = value(bias, 2 * layer + 1, o);
          for (std::int64_t i = 0; i < weight.spec.columns; ++i)
            sum += x[i] * value(weight, 2 * layer, o * weight.spec.columns + i);
          y.push_back(2 * layer + 2 < parameters_.size() ? std::max(sum, 0.0) : sum);
        }
        x = y;
      }
      double sum = 0;
      for (const double logit : x) sum += std::exp(logit);
      loss += (std::log(sum) - x[batch_.labels.ints()[b]]) / kBatch;
    }
    return loss;
  }

  test::TemporaryDirectory directory_;
  host::Recorder recorder_{host::RecorderOptions{.spool = directory_.path() / "spool", .run_id = "test"}};
  Probe probe_{recorder_};
  std::unique_ptr<device::Device> device_ = test::device_under_test();
  std::unique_ptr<Workload> workload_ = make_workload("mlp", {{"hidden", "12,9"}});
  std::vector<device::Buffer> memory_;
  std::vector<Parameter> parameters_;
  std::unique_ptr<Model> model_;
  Batch batch_;
};

TEST_F(MlpGradients, InitialValuesAreThoseOfTorchLinear) {
  for (const Parameter& parameter : parameters_) {
    const double bound = 1 / std::sqrt(static_cast<double>(parameter.spec.fan_in));
    const auto values = parameter.value.floats();
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    EXPECT_GE(*least, -bound) << parameter.spec.name;
    EXPECT_LE(*most, bound) << parameter.spec.name;
    if (parameter.spec.elements() < 100) continue;
    EXPECT_LT(*least, -0.9 * bound) << parameter.spec.name;
    EXPECT_GT(*most, 0.9 * bound) << parameter.spec.name;
  }
}

TEST_F(MlpGradients, LossIsThatOfPlainLoops) {
  EXPECT_NEAR(model_->forward(batch_, probe_), reference_loss(), 1e-5);
}

TEST_F(MlpGradients, AgreeWithFiniteDifferences) {
  model_->forward(batch_, probe_);
  model_->backward(batch_, probe_, [](std::size_t) {});
  constexpr double kDelta = 1e-5;
  Random random(1);
  for (std::size_t which = 0; which < parameters_.size(); ++which) {
    const std::int64_t elements = parameters_[which].spec.elements();
    for (int sample = 0; sample < 60; ++sample) {
      const auto at = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(elements)));
      const double slope =
          (reference_loss(which, at, kDelta) - reference_loss(which, at, -kDelta)) / (2 * kDelta);
      ASSERT_NEAR(parameters_[which].gradient.floats()[at], slope, 1e-5 + 1e-4 * std::abs(slope))
          << parameters_[which].spec.name << "[" << at << "]";
    }
  }
}

TEST_F(MlpGradients, EachIsAnnouncedOnceAndFinalLastLayerFirst) {
  model_->forward(batch_, probe_);
  std::vector<std::size_t> order;
  std::vector<Numbers> announced(parameters_.size());
  for (int round = 0; round < 2; ++round) {  // backward overwrites: a second round gives the same
    order.clear();
    model_->forward(batch_, probe_);
    model_->backward(batch_, probe_, [&](std::size_t parameter) {
      order.push_back(parameter);
      const auto gradient = parameters_[parameter].gradient.floats();
      announced[parameter] = Numbers(gradient.begin(), gradient.end());
    });
  }
  EXPECT_EQ(order, (std::vector<std::size_t>{5, 4, 3, 2, 1, 0}));
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto gradient = parameters_[i].gradient.floats();
    EXPECT_EQ(announced[i], Numbers(gradient.begin(), gradient.end())) << parameters_[i].spec.name;
  }
}

}  // namespace
}  // namespace ddbench::workload
