#include "differences.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ddbench::device {
namespace {

std::uint16_t* halves(const Tensor& tensor) {
  return static_cast<std::uint16_t*>(tensor.data);
}

double of_float16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1F;
  const int digits = bits & 0x3FF;
  if (exponent == 0x1F && digits != 0) return NAN;
  double size = exponent == 0 ? std::ldexp(digits, -24) : std::ldexp(1024 + digits, exponent - 25);
  if (exponent == 0x1F) size = HUGE_VAL;
  return bits >> 15 == 0 ? size : -size;
}

double of_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

double weighted_sum(const Numbers& y, const Numbers& weights) {
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * weights[i];
  return sum;
}

}  // namespace

Numbers numbers(const Tensor& tensor) {
  Numbers all;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const std::int64_t at = i / tensor.columns * tensor.leading() + i % tensor.columns;
    if (tensor.type == DataType::kFloat32) {
      all.push_back(static_cast<const float*>(tensor.data)[at]);
    } else {
      const std::uint16_t bits = halves(tensor)[at];
      all.push_back(tensor.type == DataType::kFloat16 ? of_float16(bits) : of_bfloat16(bits));
    }
  }
  return all;
}

Tensor Differences::zeros(std::int64_t rows, std::int64_t columns, DataType type) {
  memory_.push_back(device_->allocate(rows * columns * size_of(type)));
  return {memory_.back().data(), rows, columns, type};
}

Tensor Differences::random(std::int64_t rows, std::int64_t columns, DataType type) {
  const Tensor made = zeros(rows, columns, DataType::kFloat32);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& value : made.floats()) value = uniform(random_);
  if (type == DataType::kFloat32) return made;
  const Tensor narrow = zeros(rows, columns, type);
  device_->narrow(made, 1, narrow);
  return narrow;
}

Tensor Differences::unaligned(std::int64_t rows, std::int64_t columns, DataType type) {
  Tensor made = random(1, rows * columns + 1, type).part(1, rows * columns);
  made.rows = rows;
  made.columns = columns;
  return made;
}

Tensor Differences::copy_of(const Tensor& tensor) {
  const Tensor made = zeros(tensor.rows, tensor.columns, tensor.type);
  device_->copy(tensor, made);
  return made;
}

Tensor Differences::added(const Tensor& gradient, const Numbers& before) {
  const Tensor difference = zeros(gradient.rows, gradient.columns, DataType::kFloat32);
  const Numbers now = numbers(gradient);
  for (std::size_t i = 0; i < now.size(); ++i) {
    difference.floats()[i] = static_cast<float>(now[i] - before[i]);
  }
  return difference;
}

void Differences::expect_near(const Tensor& actual, const Numbers& expected, const char* what) {
  const Numbers found = numbers(actual);
  ASSERT_EQ(found.size(), expected.size()) << what;
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  const double tolerance = (GetParam() == DataType::kFloat32 ? 3e-6 : 1.5e-2) * largest + 1e-9;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], tolerance) << what << ", element " << i;
  }
}

void Differences::expect_operator(const Formula& formula, const std::vector<Numbers>& inputs, const Tensor& y,
                                  const Numbers& dy, const std::vector<Tensor>& gradients) {
  expect_near(y, formula(inputs), "y");
  constexpr double kDelta = 1e-5;
  for (std::size_t which = 0; which < gradients.size(); ++which) {
    if (gradients[which].data == nullptr) continue;
    Numbers expected;
    std::vector<Numbers> moved = inputs;
    for (double& value : moved[which]) {
      const double before = value;
      value = before + kDelta;
      const double above = weighted_sum(formula(moved), dy);
      value = before - kDelta;
      expected.push_back((above - weighted_sum(formula(moved), dy)) / (2 * kDelta));
      value = before;
    }
    expect_near(gradients[which], expected, ("gradient " + std::to_string(which)).c_str());
    if (HasFatalFailure()) return;
  }
}

}  // namespace ddbench::device
