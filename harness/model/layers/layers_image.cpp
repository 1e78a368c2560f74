#include <cmath>

#include "harness/model/layers/layers.h"
#include "harness/model/layers/pass.h"

namespace ddbench::workload {
namespace {

using device::Activation;
using device::Tensor;
using device::Window;

constexpr float kBatchNormEpsilon = 1e-5F;  // PyTorch's

Window window_of(const Value& x, const ConvolutionOptions& options) {
  return {.height = x.height,
          .width = x.width,
          .kernel = options.kernel,
          .stride = options.stride,
          .padding = options.padding};
}

Window with_batch(Window window, const Pass& pass) {
  window.batch = pass.batch_size();
  return window;
}

Value images(Network& network, const Window& window, std::int64_t channels) {
  return network.value(window.out_height() * window.out_width(), channels, window.out_height(),
                       window.out_width());
}

class Convolution final : public Layer {
 public:
  Convolution(Value x, Value y, const Window& window, ParameterIndex weight)
      : x_(x), y_(y), window_(window), weight_(weight) {}
  void forward(Pass& pass) const override {
    const auto span = pass.forward_span();
    pass.device().conv2d_forward(with_batch(window_, pass), pass[x_], pass.weight(weight_), pass[y_]);
  }
  void backward(Pass& pass) const override {
    const Window window = with_batch(window_, pass);
    {
      const auto span = pass.weight_span();
      const auto write = pass.write(weight_);
      pass.device().conv2d_backward_weight(window, pass[x_], pass.gradient(y_), write,
                                           pass.gradient_of(weight_));
    }
    pass.finish(weight_);
    if (!pass.needs_gradient(x_)) return;
    const auto span = pass.input_span();
    pass.write_by(x_, [&](const Tensor& dx) {
      pass.device().conv2d_backward_input(window, pass.gradient(y_), pass.weight(weight_), dx);
    });
  }

 private:
  Value x_;
  Value y_;
  Window window_;
  ParameterIndex weight_;
};

struct BatchNormValues {
  Value x;
  Value mean{};
  Value inverse_deviation{};
  Value y{};
  Value residual{};
  bool has_residual = false;
};

class BatchNorm final : public Layer {
 public:
  BatchNorm(const BatchNormValues& values, ParameterIndex scale, ParameterIndex shift, Activation activation)
      : v_(values), scale_(scale), shift_(shift), activation_(activation) {}
  void forward(Pass& pass) const override {
    const auto span = pass.forward_span();
    pass.device().batch_norm_forward(
        pass[v_.x], pass.vector(scale_), pass.vector(shift_), v_.has_residual ? pass[v_.residual] : Tensor{},
        activation_, kBatchNormEpsilon, {pass[v_.mean], pass[v_.inverse_deviation]}, pass[v_.y]);
  }
  void backward(Pass& pass) const override {
    {
      const auto span = pass.backward_span();
      const auto write = pass.write(scale_);
      pass.write(shift_);
      const Tensor& y = activation_ == Activation::kRelu ? pass[v_.y] : pass[v_.x];  // not read without
      pass.write_by(v_.x, [&](const Tensor& dx) {
        pass.device().batch_norm_backward(pass[v_.x], y, pass.vector(scale_), activation_,
                                          {pass[v_.mean], pass[v_.inverse_deviation]}, pass.gradient(v_.y),
                                          write, pass.gradient_of(scale_), pass.gradient_of(shift_), dx);
      });
      if (v_.has_residual) pass.write(v_.residual);  // which is what has become of the gradient of y
    }
    pass.finish(shift_);
    pass.finish(scale_);
  }

 private:
  BatchNormValues v_;
  ParameterIndex scale_;
  ParameterIndex shift_;
  Activation activation_;
};

class MaxPool final : public Layer {
 public:
  MaxPool(Value x, Value y, const Window& window) : x_(x), y_(y), window_(window) {}
  void forward(Pass& pass) const override {
    const auto span = pass.forward_span();
    pass.device().max_pool_forward(with_batch(window_, pass), pass[x_], pass[y_]);
  }
  void backward(Pass& pass) const override {
    const auto span = pass.backward_span();
    pass.write_by(x_, [&](const Tensor& dx) {
      pass.device().max_pool_backward(with_batch(window_, pass), pass[x_], pass[y_], pass.gradient(y_), dx);
    });
  }

 private:
  Value x_;
  Value y_;
  Window window_;
};

class AveragePool final : public Layer {
 public:
  AveragePool(Value x, Value y) : x_(x), y_(y) {}
  void forward(Pass& pass) const override {
    const auto span = pass.forward_span();
    pass.device().average_pool_forward(pass[x_], pass[y_]);
  }
  void backward(Pass& pass) const override {
    const auto span = pass.backward_span();
    pass.write_by(x_, [&](const Tensor& dx) { pass.device().average_pool_backward(pass.gradient(y_), dx); });
  }

 private:
  Value x_;
  Value y_;
};

Value add_batch_norm(Network& network, const std::string& name, BatchNormValues values,
                     Activation activation) {
  const Value x = values.x;
  values.y = network.value(x.rows, x.columns, x.height, x.width);
  values.mean = network.batch_statistics(x.columns);
  values.inverse_deviation = network.batch_statistics(x.columns);
  const ParameterIndex scale =
      network.vector({name + ".weight", 1, x.columns, x.columns, Initial::constant(1)});
  const ParameterIndex shift =
      network.vector({name + ".bias", 1, x.columns, x.columns, Initial::constant(0)});
  Node node{.name = name,
            .layer = std::make_unique<BatchNorm>(values, scale, shift, activation),
            .inputs = {x},
            .outputs = {values.y, values.mean, values.inverse_deviation},
            .kept = {x, values.mean, values.inverse_deviation},
            .parameters = {scale, shift},
            .overwrites_gradients = true};
  if (activation == Activation::kRelu) node.kept.push_back(values.y);
  if (values.has_residual) {
    node.inputs.push_back(values.residual);
    network.share_gradient(values.y, values.residual);
  }
  network.add(std::move(node));
  return values.y;
}

}  // namespace

Value convolution(Network& network, const std::string& name, Value x, std::int64_t out,
                  const ConvolutionOptions& options) {
  const Window window = window_of(x, options);
  const Value y = images(network, window, out);
  const std::int64_t taps = options.kernel * options.kernel;
  const auto fan_out = static_cast<float>(taps * out);
  const ParameterIndex weight = network.weight({name + ".weight", out, taps * x.columns, taps * x.columns,
                                                Initial::normal(std::sqrt(2.0F / fan_out))});
  const double product = 2.0 * static_cast<double>(y.rows * out * taps * x.columns);
  network.add({.name = name,
               .layer = std::make_unique<Convolution>(x, y, window, weight),
               .inputs = {x},
               .outputs = {y},
               .kept = {x},
               .parameters = {weight},
               .forward_flops = product,
               .backward_flops = network.needs_gradient(x) ? 2 * product : product,
               .overwrites_gradients = true});
  return y;
}

Value batch_norm(Network& network, const std::string& name, Value x, Activation activation) {
  return add_batch_norm(network, name, {.x = x}, activation);
}

Value batch_norm_add_relu(Network& network, const std::string& name, Value x, Value residual) {
  return add_batch_norm(network, name, {.x = x, .residual = residual, .has_residual = true},
                        Activation::kRelu);
}

Value max_pool(Network& network, const std::string& name, Value x, const ConvolutionOptions& options) {
  const Window window = window_of(x, options);
  const Value y = images(network, window, x.columns);
  network.add({.name = name,
               .layer = std::make_unique<MaxPool>(x, y, window),
               .inputs = {x},
               .outputs = {y},
               .kept = {x, y},
               .overwrites_gradients = true});
  return y;
}

Value average_pool(Network& network, const std::string& name, Value x) {
  const Value y = network.value(1, x.columns);
  network.add({.name = name,
               .layer = std::make_unique<AveragePool>(x, y),
               .inputs = {x},
               .outputs = {y},
               .overwrites_gradients = true});
  return y;
}

}  // namespace ddbench::workload
