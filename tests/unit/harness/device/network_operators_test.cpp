// The operators of networks and their gradients, against formulas in double precision and their central
// differences, in float32 and bfloat16. Those of images are in image_operators_test.cpp, attention in
// attention_test.cpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "differences.h"

namespace ddbench::device {
namespace {

using NetworkOperatorsTest = Differences;

TEST_P(NetworkOperatorsTest, Linear) {
  constexpr std::int64_t kBatch = 6, kIn = 5, kOut = 7;
  const Tensor x = random(kBatch, kIn), w = random(kOut, kIn), b = random(1, kOut, kFloat),
               dy = random(kBatch, kOut), y = zeros(kBatch, kOut);
  const auto formula = [](const std::vector<Numbers>& in) {
    Numbers out;
    for (std::int64_t i = 0; i < kBatch; ++i) {
      for (std::int64_t o = 0; o < kOut; ++o) {
        double sum = in[2][o];
        for (std::int64_t k = 0; k < kIn; ++k) sum += in[0][i * kIn + k] * in[1][o * kIn + k];
        out.push_back(sum);
      }
    }
    return out;
  };
  const Tensor dx = zeros(kBatch, kIn), dw = zeros(kOut, kIn, kFloat), db = zeros(1, kOut, kFloat);
  device_->linear_forward(x, w, b, Activation::kNone, y);
  device_->linear_backward_input(dy, w, kOverwrite, dx);
  device_->linear_backward_weight(x, dy, kOverwrite, dw, db);
  expect_operator(formula, {numbers(x), numbers(w), numbers(b)}, y, numbers(dy), {dx, dw, db});

  const Tensor more = random(kBatch, kIn), more_w = random(kOut, kIn, kFloat),
               more_b = random(1, kOut, kFloat);
  const Numbers before = numbers(more), before_w = numbers(more_w), before_b = numbers(more_b);
  device_->linear_backward_input(dy, w, kAccumulate, more);
  device_->linear_backward_weight(x, dy, kAccumulate, more_w, more_b);
  expect_operator(formula, {numbers(x), numbers(w), numbers(b)}, y, numbers(dy),
                  {added(more, before), added(more_w, before_w), added(more_b, before_b)});

  device_->linear_forward(x, w, {}, Activation::kNone, y);
  expect_near(y, formula({numbers(x), numbers(w), Numbers(kOut, 0.0)}), "without bias");
}

TEST_P(NetworkOperatorsTest, LayerNorm) {
  constexpr std::int64_t kRows = 70, kColumns = 19;  // more than a block of rows, no multiple of a vector
  const Tensor x = random(kRows, kColumns), scale = random(1, kColumns, kFloat),
               shift = random(1, kColumns, kFloat), dy = random(kRows, kColumns), y = zeros(kRows, kColumns),
               statistics = zeros(kRows, 2, kFloat), dx = zeros(kRows, kColumns),
               dscale = zeros(1, kColumns, kFloat), dshift = zeros(1, kColumns, kFloat);
  device_->layer_norm_forward(x, scale, shift, 1e-5F, statistics, y);
  device_->layer_norm_backward(x, scale, statistics, dy, kOverwrite, dscale, dshift, kOverwrite, dx);
  const auto formula = [&](const std::vector<Numbers>& in) {
    Numbers out;
    for (std::int64_t r = 0; r < kRows; ++r) {
      double mean = 0, variance = 0;
      for (std::int64_t c = 0; c < kColumns; ++c) mean += in[0][r * kColumns + c] / kColumns;
      for (std::int64_t c = 0; c < kColumns; ++c) {
        variance += std::pow(in[0][r * kColumns + c] - mean, 2) / kColumns;
      }
      for (std::int64_t c = 0; c < kColumns; ++c) {
        out.push_back((in[0][r * kColumns + c] - mean) / std::sqrt(variance + 1e-5) * in[1][c] + in[2][c]);
      }
    }
    return out;
  };
  expect_operator(formula, {numbers(x), numbers(scale), numbers(shift)}, y, numbers(dy),
                  {dx, dscale, dshift});
  const Numbers once = numbers(dx), once_scale = numbers(dscale);
  device_->layer_norm_backward(x, scale, statistics, dy, kAccumulate, dscale, dshift, kAccumulate, dx);
  expect_near(added(dx, once), once, "dx added");
  expect_near(added(dscale, once_scale), once_scale, "dscale added");
}

/// More rows than a GPU takes at a time, and columns that a thread holds one or several of, one by one or in packs of eight,
/// or that are too many to hold.
TEST_P(NetworkOperatorsTest, LayerNormOfManyRowsAndOfWideOnes) {
  struct Case {
    std::int64_t rows, columns;
    bool aligned = true;
  };
  for (const Case& c : {Case{4'300, 24}, Case{300, 19}, Case{300, 24, false}, Case{3, 1'100}, Case{3, 1'104}, Case{2, 2'056},
                        Case{2, 4'096}, Case{2, 4'096, false}, Case{2, 4'100}}) {
    SCOPED_TRACE(testing::Message() << c.rows << " x " << c.columns << (c.aligned ? "" : ", unaligned"));
    const std::int64_t columns = c.columns;
    const Tensor x = random(c.rows, columns, GetParam(), c.aligned), scale = random(1, columns, kFloat, c.aligned),
                 shift = random(1, columns, kFloat, c.aligned), dy = random(c.rows, columns, GetParam(), c.aligned),
                 y = random(c.rows, columns, GetParam(), c.aligned), statistics = zeros(c.rows, 2, kFloat),
                 dx = random(c.rows, columns, GetParam(), c.aligned), dscale = zeros(1, columns, kFloat),
                 dshift = zeros(1, columns, kFloat);
    device_->layer_norm_forward(x, scale, shift, 1e-5F, statistics, y);
    device_->layer_norm_backward(x, scale, statistics, dy, kOverwrite, dscale, dshift, kOverwrite, dx);
    const Numbers in = numbers(x), gain = numbers(scale), gradient = numbers(dy);
    const auto n = static_cast<std::size_t>(columns);
    Numbers input(in.size()), of_scale(n), of_shift(n);
    for (std::size_t row = 0; row < in.size(); row += n) {
      double mean = 0, variance = 0, sum = 0, product = 0;
      for (std::size_t c = 0; c < n; ++c) mean += in[row + c] / static_cast<double>(n);
      for (std::size_t c = 0; c < n; ++c) variance += std::pow(in[row + c] - mean, 2) / static_cast<double>(n);
      const double inverse = 1 / std::sqrt(variance + 1e-5);
      for (std::size_t c = 0; c < n; ++c) {
        const double normal = (in[row + c] - mean) * inverse;
        of_scale[c] += gradient[row + c] * normal;
        of_shift[c] += gradient[row + c];
        sum += gradient[row + c] * gain[c] / static_cast<double>(n);
        product += gradient[row + c] * gain[c] * normal / static_cast<double>(n);
      }
      for (std::size_t c = 0; c < n; ++c) {
        const double normal = (in[row + c] - mean) * inverse;
        input[row + c] = inverse * (gradient[row + c] * gain[c] - sum - normal * product);
      }
    }
    expect_near(dx, input, "dx");
    expect_near(dscale, of_scale, "dscale");
    expect_near(dshift, of_shift, "dshift");
    const Numbers once = numbers(dx), once_scale = numbers(dscale), once_shift = numbers(dshift);
    device_->layer_norm_backward(x, scale, statistics, dy, kAccumulate, dscale, dshift, kAccumulate, dx);
    expect_near(added(dx, once), input, "dx added");
    expect_near(added(dscale, once_scale), of_scale, "dscale added");
    device_->layer_norm_backward(x, scale, statistics, dy, kOverwrite, dscale, dshift, kOverwrite, dx);
    EXPECT_EQ(numbers(dx), once) << "equal inputs give equal bits";
    EXPECT_EQ(numbers(dscale), once_scale);
    EXPECT_EQ(numbers(dshift), once_shift);
  }
}

TEST_P(NetworkOperatorsTest, Gelu) {
  for (const Gelu form : {Gelu::kErf, Gelu::kTanh}) {
    const Tensor x = random(9, 11), dy = random(9, 11), y = zeros(9, 11), dx = zeros(9, 11);
    const auto formula = [form](const std::vector<Numbers>& in) {
      Numbers out;
      for (const double v : in[0]) {
        const double phi = form == Gelu::kErf
                               ? 0.5 * (1 + std::erf(v / std::sqrt(2)))
                               : 0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
        out.push_back(v * phi);
      }
      return out;
    };
    device_->gelu_forward(form, x, y);
    device_->gelu_backward(form, x, dy, dx);
    expect_operator(formula, {numbers(x)}, y, numbers(dy), {dx});
    device_->gelu_backward(form, x, dy, dy);
    EXPECT_EQ(numbers(dy), numbers(dx)) << "dx may be dy";
  }
}

TEST_P(NetworkOperatorsTest, GeluFarFromZeroIsTheInputOrNothing) {
  const Tensor x = zeros(1, 4), y = zeros(1, 4), dy = zeros(1, 4), wide = zeros(1, 4, kFloat);
  const float far[] = {-100, -20, 20, 100};
  std::copy(std::begin(far), std::end(far), wide.floats().begin());
  GetParam() == kFloat ? device_->copy(wide, x) : device_->narrow(wide, 1, x);
  GetParam() == kFloat ? device_->fill(dy, 1) : device_->narrow(wide, 1, dy);
  for (const Gelu form : {Gelu::kErf, Gelu::kTanh}) {
    device_->gelu_forward(form, x, y);
    expect_near(y, {0, 0, 20, 100}, "gelu");
  }
}

TEST_P(NetworkOperatorsTest, AddAndRelu) {
  const Tensor x = random(4, 9), y = random(4, 9), dy = random(4, 9);
  Numbers sum = numbers(y), cut = numbers(dy);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += numbers(x)[i];
  device_->add(x, y);
  expect_near(y, sum, "sum");
  for (std::size_t i = 0; i < sum.size(); ++i) cut[i] = numbers(y)[i] > 0 ? cut[i] : 0;
  device_->relu_backward(y, dy);
  EXPECT_EQ(numbers(dy), cut);
}

/// Whole packs of eight and a rest, and memory that is not aligned to 16 bytes.
TEST_P(NetworkOperatorsTest, ElementByElementAtAnyLengthAndAlignment) {
  for (const std::int64_t count : {8, 24, 29}) {
    for (const std::int64_t first : {0, 1}) {
      const Tensor x = random(1, count + 1).part(first, count), y = random(1, count + 1).part(first, count),
                   dy = random(1, count + 1).part(first, count), gelu = zeros(1, count + 1).part(first, count),
                   wide = zeros(1, count, kFloat);
      Numbers sum = numbers(y), cut = numbers(dy), curve = numbers(x);
      for (double& value : curve) value *= 0.5 * (1 + std::erf(value / std::sqrt(2)));
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += numbers(x)[i];
      device_->gelu_forward(Gelu::kErf, x, gelu);
      expect_near(gelu, curve, "gelu");
      device_->add(x, y);
      expect_near(y, sum, "sum");
      for (std::size_t i = 0; i < sum.size(); ++i) cut[i] = numbers(y)[i] > 0 ? cut[i] : 0;
      device_->relu_backward(y, dy);
      EXPECT_EQ(numbers(dy), cut);
      if (GetParam() == kFloat) continue;
      device_->widen(x, wide);
      EXPECT_EQ(numbers(wide), numbers(x));
    }
  }
}

TEST_P(NetworkOperatorsTest, RowsOfATable) {
  constexpr std::int64_t kRows = 5, kColumns = 6;
  const Tensor table = random(kRows, kColumns), indices = zeros(4, 1, DataType::kInt32),
               dy = random(4, kColumns), y = zeros(4, kColumns), dtable = random(kRows, kColumns, kFloat);
  const std::int32_t rows[] = {2, 0, 2, 4};
  std::copy(std::begin(rows), std::end(rows), indices.ints().begin());
  device_->gather_rows(table, indices, kOverwrite, y);
  device_->scatter_add_rows(dy, indices, kOverwrite, dtable);
  const auto formula = [&](const std::vector<Numbers>& in) {
    Numbers out;
    for (const std::int32_t row : rows) {
      out.insert(out.end(), in[0].begin() + row * kColumns, in[0].begin() + (row + 1) * kColumns);
    }
    return out;
  };
  expect_operator(formula, {numbers(table)}, y, numbers(dy), {dtable});

  const Numbers once = numbers(dtable);
  device_->scatter_add_rows(dy, indices, kAccumulate, dtable);
  expect_near(added(dtable, once), once, "scattered twice");
  Numbers twice = numbers(y);
  for (double& value : twice) value *= 2;
  device_->gather_rows(table, indices, kAccumulate, y);
  expect_near(y, twice, "gathered twice");

  if (!test::refuses_wrong_indices()) return;
  for (const std::int32_t outside : {-1, 5}) {
    indices.ints()[3] = outside;
    EXPECT_THROW(device_->gather_rows(table, indices, kOverwrite, y), Error);
    EXPECT_THROW(device_->scatter_add_rows(dy, indices, kOverwrite, dtable), Error);
  }
}

/// More rows than a block of a GPU's threads looks at together, columns for one block and for two, one by one or in packs.
TEST_P(NetworkOperatorsTest, RowsOfATableOfAnyWidthAndAlignment) {
  constexpr std::int64_t kRows = 7, kCount = 300;
  const Tensor indices = zeros(kCount, 1, DataType::kInt32);
  for (std::int32_t i = 0; i < kCount; ++i) indices.ints()[i] = i * i % 6;  // 0, 1, 3 and 4
  for (const std::int64_t columns : {24, 300, 2'056}) {
    for (const bool aligned : {true, false}) {
      SCOPED_TRACE(testing::Message() << columns << (aligned ? "" : ", unaligned"));
      const Tensor table = random(kRows, columns, GetParam(), aligned), y = random(kCount, columns, GetParam(), aligned),
                   dy = random(kCount, columns, GetParam(), aligned), dtable = random(kRows, columns, kFloat, aligned);
      const Numbers rows = numbers(table), before = numbers(y), slopes = numbers(dy);
      Numbers gathered(before.size()), sums = numbers(dtable), overwritten(sums.size());
      for (std::size_t i = 0; i < gathered.size(); ++i) {
        const std::size_t at = indices.ints()[i / columns] * columns + i % columns;
        gathered[i] = rows[at];
        sums[at] += slopes[i];
        overwritten[at] += slopes[i];
      }
      device_->gather_rows(table, indices, kAccumulate, y);
      expect_near(added(y, before), gathered, "gathered and added");
      device_->gather_rows(table, indices, kOverwrite, y);
      EXPECT_EQ(numbers(y), gathered);
      const Numbers old = numbers(dtable);
      device_->scatter_add_rows(dy, indices, kAccumulate, dtable);
      expect_near(dtable, sums, "scattered and added");
      for (const std::int64_t row : {2, 5, 6}) {
        const Numbers now = numbers(dtable.part(row * columns, columns));
        EXPECT_TRUE(std::equal(now.begin(), now.end(), old.begin() + row * columns)) << "no index names row " << row;
      }
      device_->scatter_add_rows(dy, indices, kOverwrite, dtable);
      expect_near(dtable, overwritten, "scattered");
      if (test::refuses_wrong_indices()) continue;
      const std::int32_t good = std::exchange(indices.ints()[1], kRows);
      device_->gather_rows(table, indices, kOverwrite, y);
      indices.ints()[1] = good;
      const Numbers row = numbers(y.part(columns, columns));
      EXPECT_TRUE(std::all_of(row.begin(), row.end(), [](double value) { return std::isnan(value); }));
      EXPECT_EQ(numbers(y.part(0, columns)), Numbers(gathered.begin(), gathered.begin() + columns));
    }
  }
}

TEST_P(NetworkOperatorsTest, SoftmaxCrossEntropyWithRowsThatDoNotCount) {
  constexpr std::int64_t kRows = 5, kClasses = 21;
  const Tensor logits = random(kRows, kClasses), labels = zeros(kRows, 1, DataType::kInt32),
               loss = zeros(1, 1, kFloat), dlogits = random(kRows, kClasses);
  const std::int32_t of[] = {3, kIgnoredLabel, 0, 20, kIgnoredLabel};
  std::copy(std::begin(of), std::end(of), labels.ints().begin());
  const auto formula = [&](const std::vector<Numbers>& in) {
    double mean = 0;
    for (std::int64_t r = 0; r < kRows; ++r) {
      if (of[r] == kIgnoredLabel) continue;
      double sum = 0;
      for (std::int64_t c = 0; c < kClasses; ++c) sum += std::exp(in[0][r * kClasses + c]);
      mean += (std::log(sum) - in[0][r * kClasses + of[r]]) / 3;
    }
    return Numbers{mean};
  };
  device_->softmax_cross_entropy(logits, labels, loss, 1, dlogits);
  expect_operator(formula, {numbers(logits)}, loss, {1.0}, {dlogits});
  device_->softmax_cross_entropy(logits, labels, loss, 1, logits);
  EXPECT_EQ(numbers(logits), numbers(dlogits)) << "dlogits may be the logits";

  std::fill(labels.ints().begin(), labels.ints().end(), kIgnoredLabel);
  device_->softmax_cross_entropy(logits, labels, loss, 1, dlogits);
  EXPECT_EQ(loss.floats()[0], 0);
  EXPECT_EQ(numbers(dlogits), Numbers(kRows * kClasses, 0.0));
  labels.ints()[2] = 21;
  if (test::refuses_wrong_indices()) {
    EXPECT_THROW(device_->softmax_cross_entropy(logits, labels, loss, 1, dlogits), Error);
  } else {
    device_->softmax_cross_entropy(logits, labels, loss, 1, dlogits);
    EXPECT_TRUE(std::isnan(loss.floats()[0]));
  }
}

TEST_P(NetworkOperatorsTest, WhatDoesNotFitIsNamed) {
  const Tensor x = random(12, 3), y = zeros(12, 4), weight = random(4, 27), mixed = random(12, 3, kFloat);
  EXPECT_THROW(device_->conv2d_forward({1, 3, 4, 3, 1, 0}, x, weight, y), Error) << "rows of y";
  EXPECT_THROW(device_->conv2d_forward({1, 3, 4, 5, 1, 0}, x, weight, y), Error) << "kernel over the image";
  EXPECT_THROW(device_->max_pool_forward({1, 3, 4, 3, 0, 1}, x, y), Error) << "no stride";
  EXPECT_THROW(device_->average_pool_forward(x, zeros(5, 3)), Error) << "12 rows are not 5 samples";
  EXPECT_THROW(device_->attention_forward({1, 12, 3}, x, zeros(1, 12, kFloat), y), Error) << "4 / 3 heads";
  EXPECT_THROW(device_->gelu_forward(Gelu::kErf, x, y), Error);
  if (GetParam() != kFloat) {
    EXPECT_THROW(device_->add(mixed, x), Error) << "of two types";
  }
}

INSTANTIATE_TEST_SUITE_P(Types, NetworkOperatorsTest,
                         testing::Values(kFloat, DataType::kBfloat16, DataType::kFloat16),
                         [](const auto& type) { return std::string(name_of(type.param)); });

}  // namespace
}  // namespace ddbench::device
