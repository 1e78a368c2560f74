// Optimizers, norms, side queues and 16-bit numbers of the CPU device against formulas in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "core/error.h"
#include "device_under_test.h"
#include "harness/device/device.h"

namespace ddbench::device {
namespace {

constexpr std::int64_t kElements = 1003;  // no multiple of any vector

class OptimizerOps : public testing::Test {
 protected:
  Tensor vector(DataType type = DataType::kFloat32, std::int64_t elements = kElements) {
    memory_.push_back(device_->allocate(elements * size_of(type)));
    return {memory_.back().data(), 1, elements, type};
  }
  Tensor random(float low, float high) {
    const Tensor made = vector();
    std::uniform_real_distribution<float> uniform(low, high);
    for (float& value : made.floats()) value = uniform(random_);
    return made;
  }
  static std::vector<double> numbers(const Tensor& tensor) {
    return {tensor.floats().begin(), tensor.floats().end()};
  }
  static std::uint16_t* halves(const Tensor& tensor) { return static_cast<std::uint16_t*>(tensor.data); }

  std::unique_ptr<Device> device_ = test::device_under_test();
  std::vector<Buffer> memory_;
  std::mt19937 random_{7};
};

/// Of any length and alignment, some longer than the piece that a GPU's block takes; and again, of other tensors.
TEST_F(OptimizerOps, AdamwOfManyTensorsIsThatOfEach) {
  const AdamSettings settings{.weight_decay = 0.1F, .correction1 = 0.1F, .correction2 = 0.001F};
  const auto filled = [&](std::int64_t elements) {
    const Tensor made = vector(DataType::kFloat32, elements + 1);
    std::uniform_real_distribution<float> uniform(0.1F, 1);
    for (float& value : made.floats()) value = uniform(random_);
    return made.part(elements % 2, elements);  // every other one is not aligned
  };
  for (const std::vector<std::int64_t>& sizes : {std::vector<std::int64_t>{1003, 70'001, 7, 8}, {64, 32'768}}) {
    std::vector<Device::AdamTensors> together;
    std::vector<Device::AdamTensors> alone;
    for (const std::int64_t size : sizes) {
      Device::AdamTensors tensors{filled(size), filled(size), filled(size), filled(size)};
      together.push_back(tensors);
      for (Tensor* const tensor : {&tensors.parameter, &tensors.gradient, &tensors.m, &tensors.v}) {
        const Tensor copy = vector(DataType::kFloat32, size);
        std::copy(tensor->floats().begin(), tensor->floats().end(), copy.floats().begin());
        *tensor = copy;
      }
      alone.push_back(tensors);
    }
    for (int step = 0; step < 2; ++step) {
      device_->adamw_each(together, settings, 0.01F);
      for (const auto& each : alone) device_->adamw(each.parameter, each.gradient, each.m, each.v, settings, 0.01F);
    }
    device_->synchronize();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      for (std::size_t k = 0; k < static_cast<std::size_t>(sizes[i]); ++k) {
        ASSERT_FLOAT_EQ(together[i].parameter.floats()[k], alone[i].parameter.floats()[k]) << i << ' ' << k;
        ASSERT_FLOAT_EQ(together[i].v.floats()[k], alone[i].v.floats()[k]) << i << ' ' << k;
      }
    }
  }
}

TEST_F(OptimizerOps, SgdWithMomentumDecayAndTrustRatio) {
  const Tensor parameter = random(-1, 1), gradient = random(-1, 1), velocity = random(-1, 1);
  const auto w = numbers(parameter), g = numbers(gradient), v = numbers(velocity);
  device_->sgd(parameter, gradient, velocity,
               {.lr = 0.1F, .momentum = 0.9F, .weight_decay = 0.01F, .trust_ratio = 0.5F});
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double moved = 0.9 * v[i] + 0.5 * (g[i] + 0.01 * w[i]);
    ASSERT_NEAR(velocity.floats()[i], moved, 1e-6);
    ASSERT_NEAR(parameter.floats()[i], w[i] - 0.1 * moved, 1e-6);
  }
}

TEST_F(OptimizerOps, AdamwOverSeveralSteps) {
  const Tensor parameter = random(-1, 1), m = vector(), v = vector();
  std::vector<double> w = numbers(parameter), first(w.size()), second(w.size());
  for (int t = 1; t <= 5; ++t) {
    const Tensor gradient = random(-1, 1);
    AdamSettings settings{.weight_decay = 0.1F};
    settings.correction1 = 1 - static_cast<float>(std::pow(0.9, t));
    settings.correction2 = 1 - static_cast<float>(std::pow(0.999, t));
    device_->adamw(parameter, gradient, m, v, settings, 0.01F);
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double g = gradient.floats()[i];
      w[i] *= 1 - 0.01 * 0.1;
      first[i] = 0.9 * first[i] + 0.1 * g;
      second[i] = 0.999 * second[i] + 0.001 * g * g;
      w[i] -= 0.01 / (1 - std::pow(0.9, t)) * first[i] /
              (std::sqrt(second[i]) / std::sqrt(1 - std::pow(0.999, t)) + 1e-8);
      ASSERT_NEAR(parameter.floats()[i], w[i], 2e-6) << "step " << t << ", element " << i;
    }
  }
}

TEST_F(OptimizerOps, LambDirectionIsAdamsPlusDecay) {
  const Tensor parameter = random(-1, 1), gradient = random(-1, 1), m = random(-1, 1), v = random(0, 1);
  const auto w = numbers(parameter), g = numbers(gradient), first = numbers(m), second = numbers(v);
  device_->lamb_direction(
      parameter, gradient, m, v,
      {.epsilon = 1e-6F, .weight_decay = 0.01F, .correction1 = 0.5F, .correction2 = 0.1F});
  EXPECT_EQ(numbers(parameter), w);
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double mean = (0.9 * first[i] + 0.1 * g[i]) / 0.5;
    const double square = (0.999 * second[i] + 0.001 * g[i] * g[i]) / 0.1;
    ASSERT_NEAR(gradient.floats()[i], mean / (std::sqrt(square) + 1e-6) + 0.01 * w[i],
                2e-6 * (1 + std::abs(mean / std::sqrt(square))));
  }
}

TEST_F(OptimizerOps, AddScaled) {
  const Tensor source = random(-1, 1), destination = random(-1, 1);
  const auto before = numbers(destination);
  device_->add_scaled(source, -0.5F, destination);
  for (std::size_t i = 0; i < before.size(); ++i)
    ASSERT_NEAR(destination.floats()[i], before[i] - 0.5 * source.floats()[i], 1e-6);
}

/// Of vectors that begin at no multiple of 16 bytes, as gradients in a fusion buffer do; from another thread than the device's.
TEST_F(OptimizerOps, ASideQueueCopiesAddsAndScales) {
  const Tensor source = random(-1, 1).part(1, kElements - 1);
  const Tensor destination = random(-1, 1).part(1, kElements - 1);
  const std::vector<double> before = numbers(destination);
  const auto queue = device_->side_queue();
  std::thread other([&] {
    queue->add(source, destination);
    queue->scale(destination, 0.25F);
    queue->synchronize();
  });
  other.join();
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_NEAR(numbers(destination)[i], 0.25 * (before[i] + numbers(source)[i]), 1e-7) << i;
  }
  queue->copy(source, destination);
  queue->synchronize();
  EXPECT_EQ(numbers(destination), numbers(source));
  EXPECT_THROW(queue->copy(source, destination.part(1, 3)), Error);
  EXPECT_THROW(queue->add(source, destination.part(1, 3)), Error);
}

TEST_F(OptimizerOps, SquaredNormKeepsWhatFloatsWouldLose) {
  for (const std::int64_t elements : {1, 15, 16, 17, 1'000'003}) {
    const Tensor values = vector(DataType::kFloat32, elements);
    double expected = 0;
    for (std::int64_t i = 0; i < elements; ++i) {
      values.floats()[static_cast<std::size_t>(i)] = i == 0 ? 4096.0F : 0x1p-10F;
      expected += i == 0 ? 4096.0 * 4096.0 : 0x1p-20;
    }
    EXPECT_EQ(device_->squared_norm(values), expected) << "all sums are exact in double";
  }
}

TEST_F(OptimizerOps, EveryBfloat16AndFloat16NumberSurvives) {
  for (const DataType type : {DataType::kBfloat16, DataType::kFloat16}) {
    constexpr std::int64_t kAll = 1 << 16;
    const Tensor half = vector(type, kAll), wide = vector(DataType::kFloat32, kAll),
                 back = vector(type, kAll);
    for (std::int64_t i = 0; i < kAll; ++i) halves(half)[i] = static_cast<std::uint16_t>(i);
    device_->widen(half, wide);
    device_->narrow(wide, 1.0F, back);
    for (std::int64_t i = 0; i < kAll; ++i) {
      if (std::isnan(wide.floats()[static_cast<std::size_t>(i)])) {
        const int exponent = type == DataType::kFloat16 ? 0x7C00 : 0x7F80;
        ASSERT_TRUE((halves(back)[i] & 0x7FFF) > exponent) << i << " became a number";
      } else {
        ASSERT_EQ(halves(back)[i], i);
      }
    }
  }
}

TEST_F(OptimizerOps, NarrowRoundsToNearestEvenAndOverflowsToInfinity) {
  const Tensor wide = vector(DataType::kFloat32, 6);
  const Tensor half = vector(DataType::kFloat16, 6), brain = vector(DataType::kBfloat16, 6);
  const float values[] = {1.0F, 2049.0F, 2051.0F, 65519.0F, 65520.0F, -3e-8F};
  std::copy(std::begin(values), std::end(values), wide.floats().begin());
  device_->narrow(wide, 1.0F, half);
  const std::vector<std::uint16_t> expected{0x3C00, 0x6800, 0x6802, 0x7BFF, 0x7C00, 0x8001};
  EXPECT_EQ(std::vector<std::uint16_t>(halves(half), halves(half) + 6), expected);
  device_->narrow(wide, 0.5F, brain);
  EXPECT_EQ(halves(brain)[0], 0x3F00);
  device_->widen(brain, wide);
  EXPECT_EQ(wide.floats()[1], 1024.0F);
}

TEST_F(OptimizerOps, VectorsThatDoNotFitAreRefused) {
  const Tensor ten = vector(DataType::kFloat32, 10), nine = vector(DataType::kFloat32, 9);
  const Tensor half = vector(DataType::kFloat16, 10);
  EXPECT_THROW(device_->sgd(ten, nine, ten, {}), Error);
  EXPECT_THROW(device_->adamw(ten, ten, ten, nine, {}, 0.1F), Error);
  EXPECT_THROW(device_->narrow(ten, 1, ten), Error);
  EXPECT_THROW(device_->widen(ten, ten), Error);
  EXPECT_THROW(device_->widen(half, half), Error);
  EXPECT_THROW(device_->squared_norm(half), Error);
  EXPECT_THROW(device_->add_scaled(ten.part(1, 9), 1, ten), Error);
}

}  // namespace
}  // namespace ddbench::device
