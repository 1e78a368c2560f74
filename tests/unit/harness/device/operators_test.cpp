// Every operator of the CPU device against loops in double precision.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <tuple>
#include <vector>

#include "core/error.h"
#include "device_under_test.h"
#include "harness/device/device.h"

namespace ddbench::device {
namespace {

using Numbers = std::vector<double>;

class Operators : public testing::Test {
 protected:
  Tensor tensor(std::int64_t rows, std::int64_t columns) {
    const Tensor made = zeros(rows, columns);
    for (float& value : made.floats()) value = uniform_(random_);
    return made;
  }
  Tensor zeros(std::int64_t rows, std::int64_t columns, DataType type = DataType::kFloat32) {
    memory_.push_back(device_->allocate(rows * columns * size_of(type)));
    return {memory_.back().data(), rows, columns, type};
  }
  static Numbers numbers(const Tensor& tensor) { return {tensor.floats().begin(), tensor.floats().end()}; }

  std::unique_ptr<Device> device_ = test::device_under_test();
  std::vector<Buffer> memory_;
  std::mt19937 random_{1};
  std::uniform_real_distribution<float> uniform_{-1, 1};
};

void expect_near(const Tensor& actual, const Numbers& expected, double tolerance) {
  ASSERT_EQ(static_cast<std::size_t>(actual.elements()), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(actual.floats()[i], expected[i], tolerance) << "at " << i;
}

// float32 products of k numbers in [-1,1]: rounding grows like a random walk; 16 standard deviations is far
// from flaky and far below the error of one wrong element.
double rounding(std::int64_t k) {
  return 16 * 6e-8 * std::sqrt(static_cast<double>(k)) + 1e-6;
}

class Linear : public Operators, public testing::WithParamInterface<std::tuple<int, int, int>> {};

TEST_P(Linear, Forward) {
  const auto [batch, in, out] = GetParam();
  const Tensor x = tensor(batch, in), weight = tensor(out, in), bias = tensor(1, out), y = tensor(batch, out);
  for (const Activation activation : {Activation::kNone, Activation::kRelu}) {
    Numbers expected;
    for (int b = 0; b < batch; ++b) {
      for (int o = 0; o < out; ++o) {
        double sum = bias.floats()[o];
        for (int i = 0; i < in; ++i) sum += double{x.floats()[b * in + i]} * weight.floats()[o * in + i];
        expected.push_back(activation == Activation::kRelu ? std::max(sum, 0.0) : sum);
      }
    }
    device_->linear_forward(x, weight, bias, activation, y);
    expect_near(y, expected, rounding(in));
  }
}

TEST_P(Linear, ForwardOfASeenShapeUsesTheNewMemory) {
  const auto [batch, in, out] = GetParam();
  const Tensor weight = tensor(out, in), bias = tensor(1, out);
  const Tensor x = tensor(batch, in), y = tensor(batch, out), other_x = tensor(batch, in),
               other_y = tensor(batch, out);
  device_->linear_forward(x, weight, bias, Activation::kNone, y);
  device_->copy(x, other_x);
  device_->linear_forward(other_x, weight, bias, Activation::kNone, other_y);
  EXPECT_EQ(std::memcmp(y.data, other_y.data, static_cast<std::size_t>(y.bytes())), 0);
}

TEST_P(Linear, BackwardInput) {
  const auto [batch, in, out] = GetParam();
  const Tensor dy = tensor(batch, out), weight = tensor(out, in), dx = tensor(batch, in);
  Numbers expected;
  for (int b = 0; b < batch; ++b) {
    for (int i = 0; i < in; ++i) {
      double sum = 0;
      for (int o = 0; o < out; ++o) sum += double{dy.floats()[b * out + o]} * weight.floats()[o * in + i];
      expected.push_back(sum);
    }
  }
  device_->linear_backward_input(dy, weight, GradientWrite::kOverwrite, dx);
  expect_near(dx, expected, rounding(out));
}

TEST_P(Linear, BackwardWeight) {
  const auto [batch, in, out] = GetParam();
  const Tensor x = tensor(batch, in), dy = tensor(batch, out), dweight = tensor(out, in),
               dbias = tensor(1, out);
  for (const GradientWrite write : {GradientWrite::kOverwrite, GradientWrite::kAccumulate}) {
    const bool accumulate = write == GradientWrite::kAccumulate;
    Numbers weight_expected = accumulate ? numbers(dweight) : Numbers(static_cast<std::size_t>(out * in));
    Numbers bias_expected = accumulate ? numbers(dbias) : Numbers(static_cast<std::size_t>(out));
    for (int b = 0; b < batch; ++b) {
      for (int o = 0; o < out; ++o) {
        const double gradient = dy.floats()[b * out + o];
        bias_expected[o] += gradient;
        for (int i = 0; i < in; ++i) weight_expected[o * in + i] += gradient * x.floats()[b * in + i];
      }
    }
    device_->linear_backward_weight(x, dy, write, dweight, dbias);
    expect_near(dweight, weight_expected, 2 * rounding(batch));
    expect_near(dbias, bias_expected, 2 * rounding(batch));
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Linear,
                         testing::Values(std::tuple(1, 1, 1), std::tuple(3, 5, 7), std::tuple(17, 33, 9),
                                         std::tuple(64, 96, 10), std::tuple(2, 784, 130),
                                         std::tuple(130, 64, 64)));

TEST_F(Operators, ReluBackwardPassesGradientsOfActiveUnitsOnly) {
  const Tensor y = tensor(13, 11), dy = tensor(13, 11);
  for (float& value : y.floats()) value = std::max(value, 0.0F);
  Numbers expected = numbers(dy);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = y.floats()[i] > 0 ? expected[i] : 0;
  device_->relu_backward(y, dy);
  expect_near(dy, expected, 0);
}

TEST_F(Operators, SoftmaxCrossEntropy) {
  constexpr int kBatch = 9, kClasses = 10;
  const Tensor logits = tensor(kBatch, kClasses), labels = zeros(kBatch, 1, DataType::kInt32),
               loss = zeros(1, 1), dlogits = zeros(kBatch, kClasses);
  for (float& value : logits.floats()) value *= 50;  // overflows a softmax that does not subtract the maximum
  for (int b = 0; b < kBatch; ++b) labels.ints()[b] = b % kClasses;
  double loss_expected = 0;
  Numbers gradient_expected;
  for (int b = 0; b < kBatch; ++b) {
    const auto line = logits.floats().subspan(b * kClasses, kClasses);
    double sum = 0;
    for (const double value : line) sum += std::exp(value);
    loss_expected += (std::log(sum) - line[labels.ints()[b]]) / kBatch;
    for (int c = 0; c < kClasses; ++c) {
      gradient_expected.push_back((std::exp(double{line[c]}) / sum - (c == labels.ints()[b] ? 1 : 0)) /
                                  kBatch);
    }
  }
  device_->softmax_cross_entropy(logits, labels, loss, 1, dlogits);
  EXPECT_NEAR(loss.floats()[0], loss_expected, 1e-5 * loss_expected);
  expect_near(dlogits, gradient_expected, 1e-7);
  for (double& value : gradient_expected) value *= 1000;
  device_->softmax_cross_entropy(logits, labels, loss, 1000, dlogits);
  EXPECT_NEAR(loss.floats()[0], loss_expected, 1e-5 * loss_expected) << "only the gradient is scaled";
  expect_near(dlogits, gradient_expected, 1e-4);
}

TEST_F(Operators, SgdMomentumIsThatOfTorch) {
  const Tensor parameter = tensor(3, 37), gradient = tensor(3, 37), velocity = zeros(3, 37);
  Numbers values = numbers(parameter), speeds(values.size());
  for (int step = 0; step < 3; ++step) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      speeds[i] = 0.9 * speeds[i] + gradient.floats()[i];
      values[i] -= 0.05 * speeds[i];
    }
    device_->sgd(parameter, gradient, velocity, {.lr = 0.05F, .momentum = 0.9F});
  }
  expect_near(parameter, values, 1e-6);
  expect_near(velocity, speeds, 1e-6);
}

TEST_F(Operators, FillCopyScale) {
  const Tensor a = zeros(5, 3), b = zeros(5, 3);
  device_->fill(a, 3);
  device_->scale(a, 0.25F);
  device_->copy(a, b);
  expect_near(b, Numbers(15, 0.75), 0);
  const Tensor labels = zeros(4, 1, DataType::kInt32), copied = zeros(4, 1, DataType::kInt32);
  labels.ints()[3] = -7;
  device_->copy(labels, copied);
  EXPECT_EQ(copied.ints()[3], -7);
}

TEST_F(Operators, MemoryIsZeroedAndAligned) {
  for (const std::int64_t bytes : {1, 64, 1000, 100'000}) {
    const Buffer buffer = device_->allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0U);
    EXPECT_EQ(buffer.bytes(), bytes);
    const auto* const first = static_cast<const char*>(buffer.data());
    EXPECT_TRUE(std::all_of(first, first + bytes, [](char byte) { return byte == 0; }));
  }
}

TEST_F(Operators, ShapesThatDoNotFitAreNamed) {
  const Tensor x = tensor(4, 3), weight = tensor(5, 2), bias = tensor(1, 5), y = tensor(4, 5);
  try {
    device_->linear_forward(x, weight, bias, Activation::kNone, y);
    FAIL() << "a weight of the wrong shape was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_EQ(error.message(), "linear_forward: weight is 5 x 2 float32 where 5 x 3 float32 is needed");
  }
  const Tensor labels = tensor(4, 1);  // float32 where int32 is needed
  EXPECT_THROW(device_->softmax_cross_entropy(y, labels, zeros(1, 1), 1, tensor(4, 5)), Error);
  EXPECT_THROW(device_->sgd(x, x, tensor(3, 3), {}), Error);
  EXPECT_THROW(device_->copy(x, y), Error);
  EXPECT_THROW(device_->relu_backward(Tensor{}, Tensor{}), Error);
}

}  // namespace
}  // namespace ddbench::device
