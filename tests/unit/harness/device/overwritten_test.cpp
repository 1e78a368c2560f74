// What an operator overwrites does not reach its result: after a step that overflowed, gradients are infinite or NaN until the
// next backward writes them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "differences.h"

namespace ddbench::device {
namespace {

class OverwrittenTest : public Differences {
 protected:
  /// NaN in each of the types.
  Tensor garbage(std::int64_t rows, std::int64_t columns, DataType type) {
    const Tensor made = zeros(rows, columns, type);
    std::fill_n(static_cast<std::uint16_t*>(made.data), made.bytes() / 2, std::uint16_t{0x7FC0});
    return made;
  }
  Tensor garbage(std::int64_t rows, std::int64_t columns) { return garbage(rows, columns, GetParam()); }

  static void expect_finite(const Tensor& tensor, const char* what) {
    for (const double value : numbers(tensor)) ASSERT_TRUE(std::isfinite(value)) << what;
  }
};

TEST_P(OverwrittenTest, GarbageIsGarbage) {
  for (const double value : numbers(garbage(3, 5))) EXPECT_TRUE(std::isnan(value));
}

TEST_P(OverwrittenTest, Linear) {
  const Tensor x = random(6, 5), w = random(7, 5), b = random(1, 7, kFloat), dy = random(6, 7), y = garbage(6, 7),
               dx = garbage(6, 5), dw = garbage(7, 5, kFloat), db = garbage(1, 7, kFloat);
  device_->linear_forward(x, w, b, Activation::kRelu, y);
  device_->linear_backward_input(dy, w, kOverwrite, dx);
  device_->linear_backward_weight(x, dy, kOverwrite, dw, db);
  expect_finite(y, "y");
  expect_finite(dx, "dx");
  expect_finite(dw, "dweight");
  expect_finite(db, "dbias");
}

TEST_P(OverwrittenTest, Conv2d) {
  const Window window{2, 5, 4, 3, 1, 1};
  const Tensor x = random(window.in_rows(), 3), w = random(4, 27), dy = random(window.out_rows(), 4),
               y = garbage(window.out_rows(), 4), dx = garbage(window.in_rows(), 3), dw = garbage(4, 27, kFloat);
  device_->conv2d_forward(window, x, w, y);
  device_->conv2d_backward_input(window, dy, w, dx);
  device_->conv2d_backward_weight(window, x, dy, kOverwrite, dw);
  expect_finite(y, "y");
  expect_finite(dx, "dx");
  expect_finite(dw, "dweight");
}

TEST_P(OverwrittenTest, BatchNorm) {
  for (const Activation activation : {Activation::kNone, Activation::kRelu}) {
    const Tensor x = random(13, 5), scale = random(1, 5, kFloat), shift = random(1, 5, kFloat), dy = random(13, 5),
                 y = garbage(13, 5), dx = garbage(13, 5), dscale = garbage(1, 5, kFloat), dshift = garbage(1, 5, kFloat);
    const BatchStatistics statistics{garbage(1, 5, kFloat), garbage(1, 5, kFloat)};
    device_->batch_norm_forward(x, scale, shift, {}, activation, 1e-5F, statistics, y);
    device_->batch_norm_backward(x, y, scale, activation, statistics, dy, kOverwrite, dscale, dshift, dx);
    expect_finite(y, "y");
    expect_finite(dscale, "dscale");
    expect_finite(dshift, "dshift");
    expect_finite(dx, "dx");
  }
}

TEST_P(OverwrittenTest, LayerNorm) {
  const Tensor x = random(6, 24), scale = random(1, 24, kFloat), shift = random(1, 24, kFloat), dy = random(6, 24),
               y = garbage(6, 24), statistics = garbage(6, 2, kFloat), dx = garbage(6, 24), dscale = garbage(1, 24, kFloat),
               dshift = garbage(1, 24, kFloat);
  device_->layer_norm_forward(x, scale, shift, 1e-5F, statistics, y);
  device_->layer_norm_backward(x, scale, statistics, dy, kOverwrite, dscale, dshift, kOverwrite, dx);
  expect_finite(y, "y");
  expect_finite(dscale, "dscale");
  expect_finite(dshift, "dshift");
  expect_finite(dx, "dx");
}

TEST_P(OverwrittenTest, RowsOfATable) {
  const Tensor table = random(5, 6), indices = zeros(4, 1, DataType::kInt32), dy = random(4, 6), y = garbage(4, 6),
               dtable = garbage(5, 6, kFloat);
  indices.ints()[0] = 2;
  device_->gather_rows(table, indices, kOverwrite, y);
  device_->scatter_add_rows(dy, indices, kOverwrite, dtable);
  expect_finite(y, "y");
  expect_finite(dtable, "dtable");
}

TEST_P(OverwrittenTest, Pools) {
  const Window window{1, 6, 4, 3, 2, 1};
  const Tensor x = random(window.in_rows(), 3), largest = garbage(window.out_rows(), 3), dlargest = random(window.out_rows(), 3),
               dx = garbage(window.in_rows(), 3), mean = garbage(2, 3), dmean = random(2, 3), spread = garbage(window.in_rows(), 3);
  device_->max_pool_forward(window, x, largest);
  device_->max_pool_backward(window, x, largest, dlargest, dx);
  device_->average_pool_forward(x, mean);
  device_->average_pool_backward(dmean, spread);
  expect_finite(largest, "largest");
  expect_finite(dx, "dx");
  expect_finite(mean, "mean");
  expect_finite(spread, "spread");
}

TEST_P(OverwrittenTest, AttentionAndLoss) {
  const Tensor qkv = random(8, 24), y = garbage(8, 8), dy = random(8, 8), statistics = garbage(4, 4, kFloat), dqkv = garbage(8, 24),
               labels = zeros(8, 1, DataType::kInt32), loss = garbage(1, 1, kFloat), dlogits = garbage(8, 24);
  const AttentionShape shape{.batch = 2, .sequence = 4, .heads = 2, .mask = AttentionMask::kCausal};
  device_->attention_forward(shape, qkv, statistics, y);
  device_->attention_backward(shape, qkv, y, statistics, dy, dqkv);
  device_->softmax_cross_entropy(qkv, labels, loss, 1, dlogits);
  expect_finite(y, "y");
  expect_finite(dqkv, "dqkv");
  expect_finite(loss, "loss");
  expect_finite(dlogits, "dlogits");
}

/// As in PyTorch. A NaN that became 0 would hide that the training has diverged.
TEST_P(OverwrittenTest, AReluLetsNaNPass) {
  constexpr std::int64_t kNaNs = 3;  // columns
  const Tensor x = random(13, 5), scale = random(1, 5, kFloat), shift = random(1, 5, kFloat), y = zeros(13, 5), dx = zeros(13, 5),
               dscale = zeros(1, 5, kFloat), dshift = zeros(1, 5, kFloat), dy = random(13, 5);
  for (std::int64_t i = 0; i < kNaNs; ++i) shift.floats()[i] = std::numeric_limits<float>::quiet_NaN();
  const BatchStatistics statistics{zeros(1, 5, kFloat), zeros(1, 5, kFloat)};
  device_->batch_norm_forward(x, scale, shift, {}, Activation::kRelu, 1e-5F, statistics, y);
  const Numbers out = numbers(y);
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(std::isnan(out[i]), i % 5 < kNaNs) << i;

  const Numbers gradient = numbers(dy);
  const Tensor cut = copy_of(dy);
  device_->relu_backward(y, cut);
  device_->batch_norm_backward(x, y, scale, Activation::kRelu, statistics, dy, kOverwrite, dscale, dshift, dx);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double expected = out[i] <= 0 ? 0 : gradient[i];
    EXPECT_EQ(numbers(cut)[i], expected) << i;
    EXPECT_EQ(numbers(dy)[i], expected) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, OverwrittenTest, testing::Values(kFloat, DataType::kBfloat16, DataType::kFloat16),
                         [](const auto& type) { return std::string(name_of(type.param)); });

}  // namespace
}  // namespace ddbench::device
