// Whole models: gradients against differences of the loss, the order in which gradients are announced,
// training in float32 and bfloat16.
#include <algorithm>
#include <cmath>
#include <set>

#include "bfloat16.h"
#include "device_under_test.h"
#include "harness/model/random.h"
#include "model_under_test.h"

namespace ddbench::workload {
namespace {

struct ModelCase {
  std::string name;
  WorkloadOptions options;
  std::int64_t batch;
  std::size_t every;  ///< which parameters' gradients are checked: every so many
  float lr;
  double tolerance = 0.02;  ///< of slopes: more where many ReLUs change their minds on the way
};

void PrintTo(const ModelCase& model, std::ostream* out) {
  *out << model.name;
}

class Models : public testing::TestWithParam<ModelCase> {
 protected:
  ModelUnderTest make(device::DataType precision = device::DataType::kFloat32) const {
    return {GetParam().name, GetParam().options, GetParam().batch, precision};
  }
};

bool has_bfloat16() {
  return test::computes_bfloat16(*test::device_under_test());
}

std::vector<double> values(const device::Tensor& tensor) {
  return {tensor.floats().begin(), tensor.floats().end()};
}

double norm(const device::Tensor& tensor) {
  double sum = 0;
  for (const double value : values(tensor)) sum += value * value;
  return std::sqrt(sum);
}

TEST_P(Models, GradientsAreTheSlopesOfTheLoss) {
  ModelUnderTest model = make();
  model.compute();
  std::size_t checked = 0;
  for (std::size_t i = 0; i < model.parameters().size(); i += GetParam().every) {
    const Parameter& parameter = model.parameters()[i];
    const std::vector<double> gradient = values(parameter.gradient), before = values(parameter.value);
    const double length = norm(parameter.gradient);
    if (length < 1e-4) continue;  // the float32 loss cannot show it
    // Along the gradient the slope is its length. The way is short for the parameter, and long enough for
    // the loss to change in digits that a float has.
    const double way = std::min(2e-3 / length, 2e-2);
    double slope = 0;
    for (const double sign : {1.0, -1.0}) {
      for (std::size_t j = 0; j < before.size(); ++j) {
        parameter.value.floats()[j] = static_cast<float>(before[j] + sign * way * gradient[j] / length);
      }
      slope += sign * model.loss() / (2 * way);
    }
    std::copy(before.begin(), before.end(), parameter.value.floats().begin());
    EXPECT_NEAR(slope, length, GetParam().tolerance * length + 2e-4) << parameter.spec.name;
    ++checked;
  }
  EXPECT_GE(checked, 5U);
}

TEST_P(Models, EachGradientIsAnnouncedOnceAndIsFinalThen) {
  ModelUnderTest model = make();
  model.compute();
  model.loss();
  std::vector<std::size_t> order;
  std::vector<std::vector<double>> announced(model.parameters().size());
  model.backward([&](std::size_t parameter) {
    order.push_back(parameter);
    announced[parameter] = values(model.parameters()[parameter].gradient);
  });
  EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), model.parameters().size());
  ASSERT_EQ(order.size(), model.parameters().size());
  EXPECT_LE(order.back(), 1U) << "the first layer is the last, and so is an embedding that the head shares";
  for (std::size_t i = 0; i < announced.size(); ++i) {
    EXPECT_EQ(announced[i], values(model.parameters()[i].gradient)) << model.parameters()[i].spec.name;
  }
}

TEST_P(Models, TrainsInFloat32AndInBfloat16) {
  for (const device::DataType precision : {device::DataType::kFloat32, device::DataType::kBfloat16}) {
    if (precision == device::DataType::kBfloat16 && !has_bfloat16()) GTEST_SKIP() << "no bfloat16 on this CPU: it lacks AVX512";
    ModelUnderTest model = make(precision);
    const double first = model.loss();
    for (int step = 0; step < 12; ++step) {
      model.compute();
      model.step(GetParam().lr);
    }
    EXPECT_LT(model.loss(), 0.8 * first);
  }
}

/// Of all gradients as one vector.
double cosine(const ModelUnderTest& a, const ModelUnderTest& b) {
  double product = 0, a_square = 0, b_square = 0;
  for (std::size_t i = 0; i < a.parameters().size(); ++i) {
    const auto x = values(a.parameters()[i].gradient), y = values(b.parameters()[i].gradient);
    for (std::size_t j = 0; j < x.size(); ++j) {
      product += x[j] * y[j];
      a_square += x[j] * x[j];
      b_square += y[j] * y[j];
    }
  }
  return product / std::sqrt(a_square * b_square);
}

// An untrained residual network is chaotic: what rounding does to gradients is measured by what parameters do
// that are off by up to 1%.
TEST_P(Models, Bfloat16ComputesAboutTheSame) {
  if (!has_bfloat16()) GTEST_SKIP() << "no bfloat16 on this CPU: it lacks AVX512";
  ModelUnderTest exact = make(), rounded = make(device::DataType::kBfloat16), moved = make();
  Random random(5);
  for (const Parameter& parameter : moved.parameters()) {
    for (float& value : parameter.value.floats()) value *= random.uniform(0.99F, 1.01F);
  }
  EXPECT_NEAR(rounded.compute(), exact.compute(), 0.01 * exact.loss());
  moved.compute();
  EXPECT_GT(cosine(exact, rounded), std::min(0.995, cosine(exact, moved)));
}

INSTANTIATE_TEST_SUITE_P(
    Of, Models,
    testing::Values(
        ModelCase{"mlp", {{"hidden", "12,9"}}, 6, 1, 0.05F},
        ModelCase{"resnet18", {{"image", "32"}, {"width", "8"}}, 8, 3, 0.02F},
        ModelCase{"resnet50", {{"image", "32"}, {"width", "8"}}, 8, 11, 0.01F, 0.1},
        ModelCase{
            "gpt2-nano",
            {{"layers", "2"}, {"hidden", "32"}, {"heads", "2"}, {"sequence", "16"}, {"vocabulary", "1031"}},  // padded rows of logits
            4,
            1,
            0.3F},
        ModelCase{
            "bert-base",
            {{"layers", "2"}, {"hidden", "32"}, {"heads", "4"}, {"sequence", "20"}, {"vocabulary", "120"}},
            4,
            1,
            0.3F}),
    [](const auto& model) {
      std::string name = model.param.name;
      std::erase(name, '-');
      return name;
    });

}  // namespace
}  // namespace ddbench::workload
