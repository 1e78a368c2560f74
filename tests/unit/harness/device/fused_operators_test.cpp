// What is computed with a matrix product instead of in a pass of its own, padded rows, and the choice of algorithms.
// Values against plain formulas; how much work it took where the host stands in for a GPU.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/error.h"
#include "differences.h"

namespace ddbench::device {
namespace {

double gelu_of(Gelu form, double v) {
  if (form == Gelu::kErf) return 0.5 * v * (1 + std::erf(v / std::sqrt(2)));
  return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
}

/// a[m,k] * b[k,n], or of b as it lies in [n,k].
Numbers product_of(const Tensor& a, const Tensor& b, bool transpose_b) {
  const Numbers left = numbers(a), right = numbers(b);
  const std::int64_t m = a.rows, k = a.columns, n = transpose_b ? b.rows : b.columns;
  Numbers product(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t l = 0; l < k; ++l) {
        product[i * n + j] += left[i * k + l] * right[transpose_b ? j * k + l : l * n + j];
      }
    }
  }
  return product;
}

class FusedOperatorsTest : public Differences {
 protected:
  /// Expects `work` to queue this number of kernels and products, where the device counts them.
  template <typename Work>
  void expect_work(std::uint64_t kernels, std::uint64_t products, const Work& work) {
    const auto kernels_before = test::work_on_host("kernels"), products_before = test::work_on_host("products");
    work();
    if (!kernels_before) return;
    EXPECT_EQ(*test::work_on_host("kernels") - *kernels_before, kernels) << "kernels";
    EXPECT_EQ(*test::work_on_host("products") - *products_before, products) << "products";
  }
  /// The first columns of a matrix of random numbers.
  Tensor padded(std::int64_t rows, std::int64_t columns, std::int64_t stride) {
    Tensor tensor = random(rows, stride);
    tensor.columns = columns;
    tensor.stride = stride;
    return tensor;
  }
  /// What lies behind its rows.
  static Numbers padding_of(const Tensor& tensor) {
    const std::int64_t width = tensor.leading() - tensor.columns;
    Numbers all;
    for (std::int64_t row = 0; row < tensor.rows; ++row) {
      const Numbers line = numbers(tensor.part(row * tensor.leading() + tensor.columns, width));
      all.insert(all.end(), line.begin(), line.end());
    }
    return all;
  }
  Tensor dense(const Tensor& tensor) {
    const Numbers from = numbers(tensor);
    const Tensor wide = zeros(tensor.rows, tensor.columns, kFloat);
    std::copy(from.begin(), from.end(), wide.floats().begin());
    if (tensor.type == kFloat) return wide;
    const Tensor narrow = zeros(tensor.rows, tensor.columns);
    device_->narrow(wide, 1, narrow);
    return narrow;
  }
  bool is_wide() const { return GetParam() == kFloat; }
  /// dlogits may be logits.
  void expect_cross_entropy(const Tensor& logits, const std::vector<std::int32_t>& of, const Tensor& dlogits) {
    const Tensor labels = zeros(logits.rows, 1, DataType::kInt32), loss = zeros(1, 1, kFloat);
    std::copy(of.begin(), of.end(), labels.ints().begin());
    const auto counted = static_cast<double>(std::count_if(of.begin(), of.end(), [](auto label) { return label >= 0; }));
    const Numbers in = numbers(logits);
    Numbers slopes(in.size());
    double mean = 0;
    for (std::size_t row = 0; row < of.size(); ++row) {
      if (of[row] == kIgnoredLabel) continue;
      const std::size_t first = row * logits.columns, end = first + logits.columns, label = first + of[row];
      double sum = 0;
      for (std::size_t i = first; i < end; ++i) sum += std::exp(in[i]);
      for (std::size_t i = first; i < end; ++i) slopes[i] = std::exp(in[i]) / sum / counted;
      slopes[label] -= 1 / counted;
      mean += (std::log(sum) - in[label]) / counted;
    }
    device_->softmax_cross_entropy(logits, labels, loss, 1, dlogits);
    EXPECT_NEAR(loss.floats()[0], mean, 1e-5 * mean);
    expect_near(dlogits, slopes, "slopes");
    // Of many classes each slope is small beside the label's. All together cancel it, but for its own rounding in 16 bits.
    const Numbers found = numbers(dlogits);
    for (std::int64_t row = 0; row < logits.rows; ++row) {
      const auto first = found.begin() + row * logits.columns;
      EXPECT_NEAR(std::accumulate(first, first + logits.columns, 0.0), 0, is_wide() ? 1e-5 : 2e-3) << "row " << row;
    }
  }
};

TEST_P(FusedOperatorsTest, GeluIsComputedWithTheProductBeforeIt) {
  for (const std::int64_t out : {16, 7}) {  // cuBLASLt needs whole packs
    for (const Gelu form : {Gelu::kTanh, Gelu::kErf}) {
      const Tensor x = random(6, 8), w = random(out, 8), b = random(1, out, kFloat), before = zeros(6, out), y = zeros(6, out);
      if (form == Gelu::kTanh && out == 16) {
        const std::uint64_t casts = is_wide() ? 0 : 1;  // of the bias
        expect_work(casts, 1, [&] { device_->linear_gelu_forward(x, w, b, form, before, y); });
      } else {
        device_->linear_gelu_forward(x, w, b, form, before, y);
      }
      Numbers expected = product_of(x, w, true);
      const Numbers bias = numbers(b);
      for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += bias[i % static_cast<std::size_t>(out)];
      expect_near(before, expected, "before");
      for (double& value : expected) value = gelu_of(form, value);
      expect_near(y, expected, "y");
    }
  }
}

TEST_P(FusedOperatorsTest, ItsDerivativeIsComputedWithTheProductOfTheGradient) {
  for (const std::int64_t in : {24, 7}) {
    for (const Gelu form : {Gelu::kTanh, Gelu::kErf}) {
      const Tensor dy = random(6, 10), w = random(10, in), before = random(6, in), dbefore = zeros(6, in);
      if (form == Gelu::kTanh && in == 24) {
        expect_work(0, 1, [&] { device_->linear_gelu_backward_input(dy, w, form, before, dbefore); });
      } else {
        device_->linear_gelu_backward_input(dy, w, form, before, dbefore);
      }
      Numbers expected = product_of(dy, w, false);
      const Numbers at = numbers(before);
      constexpr double kStep = 1e-5;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        expected[i] *= (gelu_of(form, at[i] + kStep) - gelu_of(form, at[i] - kStep)) / (2 * kStep);
      }
      expect_near(dbefore, expected, "dbefore");
    }
  }
}

TEST_P(FusedOperatorsTest, AGpuFusesTheGeluThatItsLibraryHas) {
  const bool is_gpu = !device_->description().starts_with("cpu");
  EXPECT_EQ(device_->fuses_gelu(Gelu::kTanh), is_gpu);
  EXPECT_FALSE(device_->fuses_gelu(Gelu::kErf));
}

TEST_P(FusedOperatorsTest, TheGradientOfTheBiasComesWithThatOfTheWeight) {
  const Tensor x = random(9, 8), dy = random(9, 12), dw = zeros(12, 8, kFloat), db = zeros(1, 12, kFloat),
               unaligned = zeros(1, 13, kFloat).part(1, 12);
  Numbers sums(12);
  const Numbers slopes = numbers(dy);
  for (std::size_t i = 0; i < slopes.size(); ++i) sums[i % 12] += slopes[i];
  expect_work(0, 1, [&] { device_->linear_backward_weight(x, dy, kOverwrite, dw, db); });
  expect_near(db, sums, "overwritten");
  const Numbers once = numbers(dw);
  expect_work(1, 1, [&] { device_->linear_backward_weight(x, dy, kAccumulate, dw, db); });
  for (double& sum : sums) sum *= 2;
  expect_near(db, sums, "added");
  expect_near(added(dw, once), once, "the weight's");
  device_->linear_backward_weight(x, dy, kOverwrite, dw, unaligned);
  for (double& sum : sums) sum /= 2;
  expect_near(unaligned, sums, "unaligned");
}

TEST_P(FusedOperatorsTest, AResidualIsAddedInTheNormBehindItToTheSameBits) {
  for (const std::int64_t columns : {24, 19, 2'056}) {  // whole packs, others, and more than one pack a thread
    const Tensor x = random(5, columns), sum = random(5, columns), scale = random(1, columns, kFloat),
                 shift = random(1, columns, kFloat), statistics = zeros(5, 2, kFloat), y = zeros(5, columns),
                 other_sum = copy_of(sum), other_statistics = zeros(5, 2, kFloat), other_y = zeros(5, columns);
    device_->add(x, other_sum);
    device_->layer_norm_forward(other_sum, scale, shift, 1e-5F, other_statistics, other_y);
    expect_work(columns == 19 ? 2 : 1, 0, [&] { device_->add_layer_norm_forward(x, sum, scale, shift, 1e-5F, statistics, y); });
    EXPECT_EQ(numbers(sum), numbers(other_sum));
    EXPECT_EQ(numbers(statistics), numbers(other_statistics));
    EXPECT_EQ(numbers(y), numbers(other_y));
  }
}

TEST_P(FusedOperatorsTest, LinearOperatorsTakePaddedRows) {
  const Tensor x = random(6, 10), w = random(21, 10), b = random(1, 21, kFloat), y = padded(6, 21, 32),
               flat = zeros(6, 21), dy = padded(6, 21, 32), dx = zeros(6, 10), dw = zeros(21, 10, kFloat),
               db = zeros(1, 21, kFloat), flat_dw = zeros(21, 10, kFloat), flat_db = zeros(1, 21, kFloat),
               flat_dx = zeros(6, 10);
  const Numbers behind = padding_of(y);
  for (const Activation activation : {Activation::kNone, Activation::kRelu}) {
    device_->linear_forward(x, w, b, activation, y);
    device_->linear_forward(x, w, b, activation, flat);
    expect_near(y, numbers(flat), "y");
    EXPECT_EQ(padding_of(y), behind);
  }
  const Tensor flat_dy = dense(dy);
  for (const GradientWrite write : {kOverwrite, kAccumulate}) {
    device_->linear_backward_input(dy, w, write, dx);
    device_->linear_backward_input(flat_dy, w, write, flat_dx);
    expect_near(dx, numbers(flat_dx), "dx");
    device_->linear_backward_weight(x, dy, write, dw, db);
    device_->linear_backward_weight(x, flat_dy, write, flat_dw, flat_db);
    expect_near(dw, numbers(flat_dw), "dw");
    expect_near(db, numbers(flat_db), "db");
  }
  EXPECT_THROW(device_->gelu_forward(Gelu::kTanh, y, y), Error) << "others do not";
  EXPECT_THROW(device_->add(y, flat), Error);
}

/// Rows that a block of a GPU's threads keeps in registers, with shared memory too, and that it cannot keep.
TEST_P(FusedOperatorsTest, CrossEntropyOfPaddedRowsIsThatOfDenseOnes) {
  for (const auto& [classes, stride] : {std::pair<std::int64_t, std::int64_t>{21, 32}, {8'201, 8'320}, {33'001, 33'024},
                                        {50'257, 50'304}, {65'537, 65'544}, {92'001, 92'032}}) {
    SCOPED_TRACE(classes);
    const Tensor logits = padded(3, classes, stride), flat = dense(logits);
    const std::vector<std::int32_t> labels{static_cast<std::int32_t>(classes - 1), kIgnoredLabel, 0};
    expect_cross_entropy(flat, labels, flat);
    expect_cross_entropy(logits, labels, padded(3, classes, stride));
    expect_cross_entropy(logits, labels, logits);
  }
}

/// As where words must not come: their logits are minus infinity.
TEST_P(FusedOperatorsTest, CrossEntropyOfClassesThatCannotBe) {
  for (const auto& [classes, stride] : {std::pair<std::int64_t, std::int64_t>{2'001, 2'048}, {50'001, 50'048}, {50'001, 0}}) {
    SCOPED_TRACE(stride);
    const std::int64_t leading = stride == 0 ? classes : stride;
    Tensor logits = random(3, leading, kFloat);
    for (std::int64_t i = 0; i < logits.elements(); ++i) {
      if (i % leading % 1'000 != 0) logits.floats()[i] = -std::numeric_limits<float>::infinity();
    }
    if (!is_wide()) {
      const Tensor wide = std::exchange(logits, zeros(3, leading));
      device_->narrow(wide, 1, logits);
    }
    logits.columns = classes;
    logits.stride = stride;
    expect_cross_entropy(logits, {static_cast<std::int32_t>(classes - 1), kIgnoredLabel, 0}, logits);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, FusedOperatorsTest,
                         testing::Values(kFloat, DataType::kBfloat16, DataType::kFloat16),
                         [](const auto& each) { return std::string(name_of(each.param)); });

class AlgorithmsTest : public Differences {
 protected:
  void SetUp() override {
    Differences::SetUp();
    if (!test::work_on_host("products")) GTEST_SKIP() << "only the stand-in's products are counted";
  }
  void TearDown() override {
    unsetenv("DDBENCH_HOST_ALGORITHMS");
    unsetenv("DDBENCH_AUTOTUNE");
  }
  /// Products, and those by the fast algorithm, that a gradient which is added needs, twice; it is checked too.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> work_of_two_products() {
    device_ = test::device_under_test();  // which reads the environment
    const Tensor dy = random(6, 8), w = random(8, 10), dx = random(6, 10);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> work;
    for (int i = 0; i < 2; ++i) {
      const auto all = test::work_on_host("products"), fast = test::work_on_host("products by the fast algorithm");
      const Numbers before = numbers(dx);
      device_->linear_backward_input(dy, w, kAccumulate, dx);
      expect_near(added(dx, before), product_of(dy, w, false), "added once");
      work.emplace_back(*test::work_on_host("products") - *all,
                        *test::work_on_host("products by the fast algorithm") - *fast);
    }
    return work;
  }
};

using Work = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

TEST_P(AlgorithmsTest, TheFastestEngineOfAConvolutionIsFoundOnceAndKept) {
  setenv("DDBENCH_HOST_ALGORITHMS", "3", 1);
  for (const char* const wanted : {"1", "0"}) {
    setenv("DDBENCH_AUTOTUNE", wanted, 1);
    device_ = test::device_under_test();
    const Tensor x = random(2 * 3 * 5, 8), weight = random(6, 8), y = zeros(2 * 3 * 5, 6);
    Work work;
    for (int i = 0; i < 2; ++i) {
      const auto all = test::work_on_host("graphs of cuDNN"), fast = test::work_on_host("graphs of cuDNN by the fast engine");
      device_->conv2d_forward({2, 3, 5, 1, 1, 0}, x, weight, y);
      expect_near(y, product_of(x, weight, true), "a convolution of single pixels is a product");
      work.emplace_back(*test::work_on_host("graphs of cuDNN") - *all,
                        *test::work_on_host("graphs of cuDNN by the fast engine") - *fast);
    }
    EXPECT_EQ(work, (*wanted == '1' ? Work{{3 * 4 + 1, 4 + 1}, {1, 1}} : Work{{1, 0}, {1, 0}}));
  }
}

TEST_P(AlgorithmsTest, TheFastestIsFoundOnceAndKept) {
  setenv("DDBENCH_HOST_ALGORITHMS", "3", 1);
  // Each is run four times, and then the fastest.
  EXPECT_EQ(work_of_two_products(), (Work{{3 * 4 + 1, 4 + 1}, {1, 1}}));
}

TEST_P(AlgorithmsTest, WithoutTrialTheFirstIsTaken) {
  setenv("DDBENCH_HOST_ALGORITHMS", "3", 1);
  setenv("DDBENCH_AUTOTUNE", "0", 1);
  EXPECT_EQ(work_of_two_products(), (Work{{1, 0}, {1, 0}}));
}

TEST_P(AlgorithmsTest, WhereThereIsOneItIsNotTimed) {
  EXPECT_EQ(work_of_two_products(), (Work{{1, 0}, {1, 0}}));
}

INSTANTIATE_TEST_SUITE_P(Types, AlgorithmsTest, testing::Values(kFloat));

}  // namespace
}  // namespace ddbench::device
