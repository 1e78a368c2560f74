// The operators of convolutional networks and their gradients; see network_operators_test.cpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "differences.h"

namespace ddbench::device {
namespace {

using ImageOperatorsTest = Differences;

struct ConvolutionCase {
  Window window;
  std::int64_t in;
  std::int64_t out;
};

Numbers convolve(const ConvolutionCase& c, const Numbers& x, const Numbers& weight) {
  const Window& w = c.window;
  Numbers y;
  for (std::int64_t n = 0; n < w.batch; ++n) {
    for (std::int64_t i = 0; i < w.out_height(); ++i) {
      for (std::int64_t j = 0; j < w.out_width(); ++j) {
        for (std::int64_t o = 0; o < c.out; ++o) {
          double sum = 0;
          for (std::int64_t a = 0; a < w.kernel; ++a) {
            for (std::int64_t b = 0; b < w.kernel; ++b) {
              const std::int64_t row = i * w.stride + a - w.padding, column = j * w.stride + b - w.padding;
              if (row < 0 || row >= w.height || column < 0 || column >= w.width) continue;
              for (std::int64_t k = 0; k < c.in; ++k) {
                sum += x[((n * w.height + row) * w.width + column) * c.in + k] *
                       weight[((o * w.kernel + a) * w.kernel + b) * c.in + k];
              }
            }
          }
          y.push_back(sum);
        }
      }
    }
  }
  return y;
}

TEST_P(ImageOperatorsTest, Conv2d) {
  const ConvolutionCase cases[] = {{{2, 5, 4, 3, 1, 1}, 3, 4},
                                   {{1, 6, 6, 3, 2, 1}, 2, 16},
                                   {{1, 7, 7, 7, 2, 3}, 3, 2},
                                   {{2, 4, 4, 1, 2, 0}, 16, 3},
                                   {{1, 3, 5, 1, 1, 0}, 4, 5}};
  for (const ConvolutionCase& c : cases) {
    const std::int64_t taps = c.window.kernel * c.window.kernel * c.in;
    const Tensor x = random(c.window.in_rows(), c.in), w = random(c.out, taps),
                 dy = random(c.window.out_rows(), c.out), y = zeros(c.window.out_rows(), c.out),
                 dx = zeros(c.window.in_rows(), c.in), dw = zeros(c.out, taps, kFloat),
                 more = random(c.out, taps, kFloat);
    const Numbers before = numbers(more);
    device_->conv2d_forward(c.window, x, w, y);
    device_->conv2d_backward_input(c.window, dy, w, dx);
    device_->conv2d_backward_weight(c.window, x, dy, kOverwrite, dw);
    device_->conv2d_backward_weight(c.window, x, dy, kAccumulate, more);
    const auto formula = [&](const std::vector<Numbers>& in) { return convolve(c, in[0], in[1]); };
    expect_operator(formula, {numbers(x), numbers(w)}, y, numbers(dy), {dx, dw});
    expect_operator(formula, {numbers(x), numbers(w)}, y, numbers(dy), {{}, added(more, before)});
  }
}

Numbers batch_norm(std::int64_t rows, std::int64_t columns, const Numbers& x, const Numbers& scale,
                   const Numbers& shift, const Numbers& residual, bool relu) {
  Numbers y(x.size());
  for (std::int64_t c = 0; c < columns; ++c) {
    double mean = 0, variance = 0;
    for (std::int64_t r = 0; r < rows; ++r) mean += x[r * columns + c] / static_cast<double>(rows);
    for (std::int64_t r = 0; r < rows; ++r) {
      variance += (x[r * columns + c] - mean) * (x[r * columns + c] - mean) / static_cast<double>(rows);
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t i = r * columns + c;
      y[i] = (x[i] - mean) / std::sqrt(variance + 1e-5) * scale[c] + shift[c];
      if (!residual.empty()) y[i] += residual[i];
      if (relu) y[i] = std::max(y[i], 0.0);
    }
  }
  return y;
}

TEST_P(ImageOperatorsTest, BatchNorm) {
  // Single columns and packs of 8.
  for (const auto& size : {std::pair{13L, 5L}, {13L, 16L}, {150L, 8L}}) {
    const std::int64_t rows = size.first, columns = size.second;
    const Tensor x = random(rows, columns), scale = random(1, columns, kFloat),
                 shift = random(1, columns, kFloat), residual = random(rows, columns),
                 gradient = random(rows, columns), y = zeros(rows, columns), dx = zeros(rows, columns);
    const BatchStatistics statistics{zeros(1, columns, kFloat), zeros(1, columns, kFloat)};
    for (const Activation activation : {Activation::kNone, Activation::kRelu}) {
      for (const Tensor& added_to : {Tensor{}, residual}) {
        const bool relu = activation == Activation::kRelu, with_residual = added_to.data != nullptr;
        const Tensor dy = copy_of(gradient), dscale = zeros(1, columns, kFloat),
                     dshift = random(1, columns, kFloat);
        device_->batch_norm_forward(x, scale, shift, added_to, activation, 1e-5F, statistics, y);
        device_->batch_norm_backward(x, y, scale, activation, statistics, dy, kOverwrite, dscale, dshift, dx);
        expect_operator(
            [&](const std::vector<Numbers>& in) {
              return batch_norm(rows, columns, in[0], in[1], in[2], with_residual ? in[3] : Numbers{}, relu);
            },
            {numbers(x), numbers(scale), numbers(shift), numbers(residual)}, y, numbers(gradient),
            {dx, dscale, dshift, with_residual ? dy : Tensor{}});
        const Numbers once = numbers(dscale);
        device_->batch_norm_backward(x, y, scale, activation, statistics, dy, kAccumulate, dscale, dshift, dx);
        expect_near(added(dscale, once), once, "dscale added");
      }
    }
  }
}

/// The gradients by x, scale and shift, where `dy` has been cut off where y is 0.
std::array<Numbers, 3> batch_norm_gradients(std::int64_t rows, std::int64_t columns, const Numbers& x, const Numbers& scale,
                                            const Numbers& dy) {
  Numbers dx(x.size()), dscale, dshift;
  const auto count = static_cast<double>(rows);
  for (std::int64_t c = 0; c < columns; ++c) {
    double mean = 0, variance = 0, sum = 0, product = 0;
    for (std::int64_t i = c; i < rows * columns; i += columns) mean += x[i] / count;
    for (std::int64_t i = c; i < rows * columns; i += columns) variance += (x[i] - mean) * (x[i] - mean) / count;
    const double inverse = 1 / std::sqrt(variance + 1e-5);
    for (std::int64_t i = c; i < rows * columns; i += columns) {
      sum += dy[i];
      product += dy[i] * (x[i] - mean) * inverse;
    }
    for (std::int64_t i = c; i < rows * columns; i += columns) {
      dx[i] = scale[c] * inverse * (dy[i] - sum / count - (x[i] - mean) * inverse * product / count);
    }
    dscale.push_back(product);
    dshift.push_back(sum);
  }
  return {dx, dscale, dshift};
}

TEST_P(ImageOperatorsTest, BatchNormOfRowsAndColumnsThatSeveralBlocksShare) {
  for (const auto& size : {std::pair{20'000L, 40L}, {2'000L, 37L}}) {  // packs of 8, single columns
    const std::int64_t rows = size.first, columns = size.second;
    const Tensor x = random(rows, columns), scale = random(1, columns, kFloat), shift = random(1, columns, kFloat),
                 dy = random(rows, columns), y = zeros(rows, columns), dx = zeros(rows, columns),
                 dscale = zeros(1, columns, kFloat), dshift = zeros(1, columns, kFloat);
    Numbers cut = numbers(dy);
    const BatchStatistics statistics{zeros(1, columns, kFloat), zeros(1, columns, kFloat)};
    device_->batch_norm_forward(x, scale, shift, {}, Activation::kRelu, 1e-5F, statistics, y);
    device_->batch_norm_backward(x, y, scale, Activation::kRelu, statistics, dy, kOverwrite, dscale, dshift, dx);
    expect_near(y, batch_norm(rows, columns, numbers(x), numbers(scale), numbers(shift), {}, true), "y");
    const Numbers outputs = numbers(y);
    for (std::size_t i = 0; i < cut.size(); ++i) {
      if (outputs[i] <= 0) cut[i] = 0;
    }
    const auto [by_x, by_scale, by_shift] = batch_norm_gradients(rows, columns, numbers(x), numbers(scale), cut);
    expect_near(dx, by_x, "dx");
    expect_near(dscale, by_scale, "dscale");
    expect_near(dshift, by_shift, "dshift");
  }
}

TEST_P(ImageOperatorsTest, BatchNormOfManyRowsFarFromZero) {
  if (GetParam() != kFloat) GTEST_SKIP() << "bfloat16 has no numbers that near each other, that far from 0";
  constexpr std::int64_t kRows = 20'000;
  const Tensor x = random(kRows, 1), one = random(1, 1), zero = zeros(1, 1), y = zeros(kRows, 1);
  one.floats()[0] = 1;
  for (float& value : x.floats()) value += 1000;
  const BatchStatistics statistics{zeros(1, 1), zeros(1, 1)};
  device_->batch_norm_forward(x, one, zero, {}, Activation::kNone, 1e-5F, statistics, y);
  double mean = 0, variance = 0;
  for (const double value : numbers(x)) mean += value / kRows;
  for (const double value : numbers(x)) variance += (value - mean) * (value - mean) / kRows;
  EXPECT_NEAR(statistics.mean.floats()[0], mean, 1e-4);
  EXPECT_NEAR(statistics.inverse_deviation.floats()[0], 1 / std::sqrt(variance + 1e-5), 1e-5);
}

TEST_P(ImageOperatorsTest, MaxPool) {
  const Window w{2, 5, 4, 3, 2, 1};
  for (const std::int64_t channels : {3, 8}) {  // the second as a pack
    // No two of an image's pixels are equal in a channel, in 16 bits either: there the gradient has two values.
    const Tensor wide = zeros(w.in_rows(), channels, kFloat);
    for (std::int64_t i = 0; i < wide.elements(); ++i) {
      wide.floats()[i] = static_cast<float>((i / channels * 7 + i % channels * 3) % 20) / 8;
    }
    const Tensor x = GetParam() == kFloat ? wide : zeros(w.in_rows(), channels), dy = random(w.out_rows(), channels),
                 y = zeros(w.out_rows(), channels), dx = zeros(w.in_rows(), channels);
    if (GetParam() != kFloat) device_->narrow(wide, 1, x);
    device_->max_pool_forward(w, x, y);
    device_->max_pool_backward(w, x, y, dy, dx);
    const auto formula = [&](const std::vector<Numbers>& in) {
      Numbers out;
      for (std::int64_t i = 0; i < w.out_rows() * channels; ++i) {
        const std::int64_t pixel = i / channels, column = pixel % w.out_width(),
                           row = pixel / w.out_width() % w.out_height(),
                           image = pixel / w.out_width() / w.out_height();
        double most = -std::numeric_limits<double>::infinity();
        for (std::int64_t a = 0; a < 3; ++a) {
          for (std::int64_t b = 0; b < 3; ++b) {
            const std::int64_t r = row * 2 + a - 1, c = column * 2 + b - 1;
            if (r < 0 || r >= w.height || c < 0 || c >= w.width) continue;
            most = std::max(most, in[0][((image * w.height + r) * w.width + c) * channels + i % channels]);
          }
        }
        out.push_back(most);
      }
      return out;
    };
    expect_operator(formula, {numbers(x)}, y, numbers(dy), {dx});
  }
}

TEST_P(ImageOperatorsTest, MaxPoolGivesOfEqualsTheFirst) {
  const Window w{1, 2, 2, 2, 1, 0};
  for (const std::int64_t channels : {1, 8}) {
    const Tensor x = zeros(4, channels), y = zeros(1, channels), dy = random(1, channels), dx = random(4, channels);
    device_->max_pool_forward(w, x, y);
    device_->max_pool_backward(w, x, y, dy, dx);
    Numbers expected = numbers(dy);
    expected.resize(static_cast<std::size_t>(4 * channels));
    EXPECT_EQ(numbers(dx), expected);
  }
}

TEST_P(ImageOperatorsTest, AveragePool) {
  constexpr std::int64_t kSamples = 3, kPixels = 6, kChannels = 4;
  const Tensor x = random(kSamples * kPixels, kChannels), dy = random(kSamples, kChannels),
               y = zeros(kSamples, kChannels), dx = zeros(kSamples * kPixels, kChannels);
  device_->average_pool_forward(x, y);
  device_->average_pool_backward(dy, dx);
  const auto formula = [](const std::vector<Numbers>& in) {
    Numbers out(kSamples * kChannels);
    for (std::size_t i = 0; i < in[0].size(); ++i) {
      out[i / (kPixels * kChannels) * kChannels + i % kChannels] += in[0][i] / kPixels;
    }
    return out;
  };
  expect_operator(formula, {numbers(x)}, y, numbers(dy), {dx});
}

INSTANTIATE_TEST_SUITE_P(Types, ImageOperatorsTest,
                         testing::Values(kFloat, DataType::kBfloat16, DataType::kFloat16),
                         [](const auto& type) { return std::string(name_of(type.param)); });

}  // namespace
}  // namespace ddbench::device
