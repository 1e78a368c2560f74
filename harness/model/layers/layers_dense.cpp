#include <utility>

#include "harness/model/layers/layers.h"
#include "harness/model/layers/pass.h"

namespace ddbench::workload {
namespace {

using device::Activation;
using device::GradientWrite;

/// y = GELU(x) between two linear layers, one memory for both gradients.
struct GeluOf {
  Value x{};
  Value y{};
  device::Gelu form = device::Gelu::kErf;
  bool is_there = false;
  bool is_fused(Pass& pass) const { return is_there && pass.device().fuses_gelu(form); }
};

class Linear final : public Layer {
 public:
  Linear(Value x, Value y, ParameterIndex weight, Activation activation)
      : x_(x), y_(y), weight_(weight), activation_(activation) {}
  void set_bias(ParameterIndex bias) {
    bias_ = bias;
    has_bias_ = true;
  }
  /// The GELU of `y` is computed here too, where the device fuses it.
  void set_gelu_after(const GeluOf& gelu) { after_ = gelu; }
  /// `x` is a GELU: where the device fuses it, its gradient is that of what the GELU was taken of.
  void set_gelu_before(const GeluOf& gelu) { before_ = gelu; }
  std::vector<ParameterIndex> parameters() const {
    return has_bias_ ? std::vector{weight_, bias_} : std::vector{weight_};
  }

  void forward(Pass& pass) const override {
    const auto span = pass.forward_span();
    const device::Tensor bias = has_bias_ ? pass.vector(bias_) : device::Tensor{};
    if (after_.is_fused(pass)) {
      pass.device().linear_gelu_forward(pass[x_], pass.weight(weight_), bias, after_.form, pass[y_], pass[after_.y]);
    } else {
      pass.device().linear_forward(pass[x_], pass.weight(weight_), bias, activation_, pass[y_]);
    }
  }

  // The gradient of the weight first: its bucket starts earlier.
  void backward(Pass& pass) const override {
    if (activation_ == Activation::kRelu) {
      const auto span = pass.backward_span();
      pass.device().relu_backward(pass[y_], pass.gradient(y_));
    }
    {
      const auto span = pass.weight_span();
      const GradientWrite write = pass.write(weight_);
      if (has_bias_) pass.write(bias_);
      pass.device().linear_backward_weight(pass[x_], pass.gradient(y_), write, pass.gradient_of(weight_),
                                           has_bias_ ? pass.gradient_of(bias_) : device::Tensor{});
    }
    if (has_bias_) pass.finish(bias_);
    pass.finish(weight_);
    if (!pass.needs_gradient(x_)) return;
    const auto span = pass.input_span();
    const GradientWrite write = pass.write(x_);
    if (before_.is_fused(pass)) {
      pass.device().linear_gelu_backward_input(pass.gradient(y_), pass.weight(weight_), before_.form, pass[before_.x],
                                               pass.gradient(x_));
      return;
    }
    pass.device().linear_backward_input(pass.gradient(y_), pass.weight(weight_), write, pass.gradient(x_));
  }

 private:
  Value x_;
  Value y_;
  ParameterIndex weight_;
  Activation activation_;
  ParameterIndex bias_ = 0;
  bool has_bias_ = false;
  GeluOf after_;
  GeluOf before_;
};

Node node_of(Network& network, const std::string& name, Value x, Value y, Activation activation) {
  const double product = 2.0 * static_cast<double>(x.rows * x.columns * y.columns);
  Node node{.name = name,
            .inputs = {x},
            .outputs = {y},
            .kept = {x},
            .forward_flops = product,
            .backward_flops = network.needs_gradient(x) ? 2 * product : product};
  if (activation == Activation::kRelu) node.kept.push_back(y);
  return node;
}

class GeluLayer final : public Layer {
 public:
  GeluLayer(Value x, Value y, device::Gelu form) : x_(x), y_(y), form_(form) {}
  /// `gelu`: this layer, where the linear layers beside it may compute it.
  explicit GeluLayer(const GeluOf& gelu) : GeluLayer(gelu.x, gelu.y, gelu.form) { between_ = gelu; }

  void forward(Pass& pass) const override {
    if (between_.is_fused(pass)) return;
    const auto span = pass.forward_span();
    pass.device().gelu_forward(form_, pass[x_], pass[y_]);
  }
  void backward(Pass& pass) const override {
    if (between_.is_fused(pass)) {
      pass.write(x_);
      return;
    }
    const auto span = pass.backward_span();
    pass.write_by(x_, [&](const device::Tensor& dx) {
      pass.device().gelu_backward(form_, pass[x_], pass.gradient(y_), dx);
    });
  }

 private:
  Value x_;
  Value y_;
  device::Gelu form_;
  GeluOf between_;
};

}  // namespace

namespace {

/// linear(), with `refine` for its layer and node.
template <typename Refine>
Value add_linear(Network& network, const std::string& name, Value x, std::int64_t out, const LinearOptions& options,
                 const Refine& refine) {
  const Value y = network.value(x.rows, out);
  const ParameterIndex weight = network.weight({name + ".weight", out, x.columns, x.columns, options.weight});
  auto layer = std::make_unique<Linear>(x, y, weight, options.activation);
  if (options.bias) {
    layer->set_bias(network.vector({name + ".bias", 1, out, x.columns, options.bias_values}));
  }
  Node node = node_of(network, name, x, y, options.activation);
  node.parameters = layer->parameters();
  refine(*layer, node, y);
  node.layer = std::move(layer);
  network.add(std::move(node));
  return y;
}

}  // namespace

Value linear(Network& network, const std::string& name, Value x, std::int64_t out, const LinearOptions& options) {
  return add_linear(network, name, x, out, options, [](Linear&, Node&, Value) {});
}

Value feed_forward(Network& network, const FeedForward& layers, Value x) {
  GeluOf gelu{.form = layers.form, .is_there = true};
  gelu.y = network.value(x.rows, layers.hidden);
  add_linear(network, layers.expand, x, layers.hidden, layers.of_expand, [&](Linear& linear, Node& node, Value y) {
    gelu.x = y;
    linear.set_gelu_after(gelu);
    node.outputs.push_back(gelu.y);  // its memory is needed from here on
  });
  network.share_gradient(gelu.y, gelu.x);
  network.add({.name = layers.gelu,
               .layer = std::make_unique<GeluLayer>(gelu),
               .inputs = {gelu.x},
               .outputs = {gelu.y},
               .kept = {gelu.x}});
  return add_linear(network, layers.contract, gelu.y, x.columns, layers.of_contract,
                    [&](Linear& linear, Node& node, Value) {
                      linear.set_gelu_before(gelu);
                      node.kept.push_back(gelu.x);
                    });
}

Value tied_linear(Network& network, const std::string& name, Value x, ParameterIndex table, bool bias) {
  const std::int64_t out = network.parameters()[table].rows;
  const Value y = network.value(x.rows, out);
  network.pad_rows(y);
  network.share_parameter(table);
  auto layer = std::make_unique<Linear>(x, y, table, Activation::kNone);
  if (bias) layer->set_bias(network.vector({name + ".bias", 1, out, x.columns, Initial::constant(0)}));
  Node node = node_of(network, name, x, y, Activation::kNone);
  node.parameters = layer->parameters();
  node.layer = std::move(layer);
  network.add(std::move(node));
  return y;
}

Value gelu(Network& network, const std::string& name, Value x, device::Gelu form) {
  const Value y = network.value(x.rows, x.columns);
  network.add({.name = name,
               .layer = std::make_unique<GeluLayer>(x, y, form),
               .inputs = {x},
               .outputs = {y},
               .kept = {x},
               .overwrites_gradients = true});
  return y;
}

}  // namespace ddbench::workload
