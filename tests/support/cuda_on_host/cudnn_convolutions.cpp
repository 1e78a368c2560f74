#include <utility>

#include "cudnn_operations.h"
#include "products.h"

namespace ddbench::cuda_on_host {
namespace {

/// One sample's pass of a convolution is a matrix product with its columns: a row for each weight of a
/// window, a column for each window.
struct WindowColumns {
  ConvolutionRule rule;
  Sizes x, w, y;

  std::int64_t rows() const { return w[1] * w[2] * w[3]; }
  std::int64_t windows() const { return y[2] * y[3]; }

  /// f(place in the columns, place in the sample) for all that are not padding.
  template <typename Function>
  void for_each(Function f) const {
    std::int64_t column = 0;
    for (std::int64_t row = 0; row < rows(); ++row) {
      const std::int64_t c = row / (w[2] * w[3]);
      const std::int64_t below = row / w[3] % w[2] * rule.dilation[0] - rule.padding_before[0];
      const std::int64_t right = row % w[3] * rule.dilation[1] - rule.padding_before[1];
      for (std::int64_t i = 0; i < y[2]; ++i) {
        const std::int64_t h = i * rule.stride[0] + below;
        for (std::int64_t j = 0; j < y[3]; ++j, ++column) {
          const std::int64_t at = j * rule.stride[1] + right;
          if (h >= 0 && h < x[2] && at >= 0 && at < x[3]) f(column, (c * x[2] + h) * x[3] + at);
        }
      }
    }
  }
  Values of(const float* sample) const {
    Values columns(rows() * windows());
    for_each([&](std::int64_t column, std::int64_t place) { columns[column] = sample[place]; });
    return columns;
  }
  void add(const Values& columns, float* sample) const {
    for_each([&](std::int64_t column, std::int64_t place) { sample[place] += columns[column]; });
  }
};

Values convolve(ConvolutionPass pass, const WindowColumns& shape, const Values& first, const Values& second) {
  const std::int64_t out = shape.w[0];
  const std::int64_t rows = shape.rows();
  const std::int64_t windows = shape.windows();
  const std::int64_t x_size = shape.x[1] * shape.x[2] * shape.x[3];
  const std::int64_t y_size = out * windows;
  const Sizes& made = pass == ConvolutionPass::kForward        ? shape.y
                      : pass == ConvolutionPass::kBackwardData ? shape.x
                                                               : shape.w;
  Values result(made[0] * made[1] * made[2] * made[3]);
  Values part(pass == ConvolutionPass::kBackwardData ? rows * windows : out * rows);
  for (std::int64_t n = 0; n < shape.x[0]; ++n) {
    if (pass == ConvolutionPass::kForward) {
      const Values columns = shape.of(first.data() + n * x_size);
      multiply(out, windows, rows, {second.data(), rows, 1}, {columns.data(), windows, 1},
               result.data() + n * y_size);
    } else if (pass == ConvolutionPass::kBackwardData) {
      multiply(rows, windows, out, {first.data(), 1, rows}, {second.data() + n * y_size, windows, 1},
               part.data());
      shape.add(part, result.data() + n * x_size);
    } else {
      const Values columns = shape.of(first.data() + n * x_size);
      multiply(out, rows, windows, {second.data() + n * y_size, windows, 1}, {columns.data(), 1, windows},
               part.data());
      for (std::size_t i = 0; i < result.size(); ++i) result[i] += part[i];
    }
  }
  return result;
}

void demand_shapes(const ConvolutionRule& rule, const Sizes& x, const Sizes& w, const Sizes& y) {
  demand(x.size() == 4 && w.size() == 4 && y.size() == 4,
         "a convolution's tensors have four dimensions here");
  demand(x[0] == y[0] && x[1] == w[1] && y[1] == w[0], "a convolution's samples or channels do not fit");
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t room =
        x[i + 2] + rule.padding_before[i] + rule.padding_after[i] - (w[i + 2] - 1) * rule.dilation[i] - 1;
    demand(room >= 0 && y[i + 2] == room / rule.stride[i] + 1,
           "a convolution's windows do not fit its images");
  }
}

}  // namespace

GraphOperation convolution(ConvolutionPass pass, const ConvolutionRule& rule, const GraphTensor& x,
                           const GraphTensor& w, const GraphTensor& y, float alpha, float beta) {
  demand(x.holds_numbers() && x.format == w.format && y.format == w.format,
         "a convolution is one of tensors of one floating-point type");
  demand_shapes(rule, x.dimensions, w.dimensions, y.dimensions);
  const bool forward = pass == ConvolutionPass::kForward;
  const bool backward_data = pass == ConvolutionPass::kBackwardData;
  const GraphTensor& made = forward ? y : backward_data ? x : w;
  GraphOperation operation{{backward_data ? w : x, forward ? w : y}, made, {}};
  if (beta != 0.0F) operation.inputs.push_back(made);
  // Odd numbers of channels have none in 16 bits: what callers do without is run as well.
  operation.has_engine =
      x.format == Format::kFloat32 || (w.dimensions[0] % 2 == 0 && w.dimensions[1] % 2 == 0);
  const WindowColumns shape{rule, x.dimensions, w.dimensions, y.dimensions};
  operation.compute = [=](const Inputs& inputs) {
    Values result = convolve(pass, shape, *inputs[0], *inputs[1]);
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = alpha * result[i] + (beta == 0.0F ? 0.0F : beta * (*inputs[2])[i]);
    }
    return result;
  };
  return operation;
}

}  // namespace ddbench::cuda_on_host
