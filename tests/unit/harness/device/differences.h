#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

#include "bfloat16.h"
#include "device_under_test.h"
#include "harness/device/device.h"

namespace ddbench::device {

using Numbers = std::vector<double>;

inline constexpr GradientWrite kOverwrite = GradientWrite::kOverwrite;
inline constexpr GradientWrite kAccumulate = GradientWrite::kAccumulate;
inline constexpr DataType kFloat = DataType::kFloat32;

/// Elements of a float32, float16 or bfloat16 tensor, without its padding.
Numbers numbers(const Tensor& tensor);

/// A device, tensors of random numbers, and the comparison of an operator with a plain formula.
class Differences : public testing::TestWithParam<DataType> {
 protected:
  void SetUp() override {
    const bool is_cpu = device_->description().starts_with("cpu");
    if (GetParam() == DataType::kFloat16 && is_cpu) GTEST_SKIP() << "float16 is for GPUs";
    if (GetParam() == DataType::kBfloat16 && !test::computes_bfloat16(*device_))
      GTEST_SKIP() << "no bfloat16 on this CPU: it lacks AVX512";
  }

  using Formula = std::function<Numbers(const std::vector<Numbers>& inputs)>;

  Tensor zeros(std::int64_t rows, std::int64_t columns, DataType type);
  Tensor zeros(std::int64_t rows, std::int64_t columns) { return zeros(rows, columns, GetParam()); }
  /// Uniform in [-1, 1), of the type under test unless another is given.
  Tensor random(std::int64_t rows, std::int64_t columns) { return random(rows, columns, GetParam()); }
  Tensor random(std::int64_t rows, std::int64_t columns, DataType type);
  /// The same, but its memory begins between multiples of 16 bytes, at which kernels of a GPU load 16 at once.
  Tensor unaligned(std::int64_t rows, std::int64_t columns, DataType type);
  Tensor random(std::int64_t rows, std::int64_t columns, DataType type, bool aligned) {
    return aligned ? random(rows, columns, type) : unaligned(rows, columns, type);
  }
  /// A tensor with the same numbers in other memory.
  Tensor copy_of(const Tensor& tensor);

  /// `gradient` - `before`: what an operator that accumulates has added.
  Tensor added(const Tensor& gradient, const Numbers& before);

  /// `actual` is `expected` but for rounding, which is measured by the largest of them.
  void expect_near(const Tensor& actual, const Numbers& expected, const char* what);
  /// y = formula(inputs), and gradients[i] are the central differences of sum(y * dy) by inputs[i].
  /// Gradients without memory are not looked at.
  void expect_operator(const Formula& formula, const std::vector<Numbers>& inputs, const Tensor& y,
                       const Numbers& dy, const std::vector<Tensor>& gradients);

  std::unique_ptr<Device> device_ = test::device_under_test();
  std::vector<Buffer> memory_;
  std::mt19937 random_{1};
};

}  // namespace ddbench::device
