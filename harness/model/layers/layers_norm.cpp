#include <utility>

#include "harness/model/layers/layers.h"
#include "harness/model/layers/pass.h"

namespace ddbench::workload {
namespace {

using device::GradientWrite;

/// Whether a norm adds up what it is of: not where it alone may be computed again.
bool adds_in_norm(Pass& pass) {
  return !pass.is_again() && pass.device().fuses_residual();
}

class LayerNorm final : public Layer {
 public:
  LayerNorm(Value x, Value statistics, Value y, ParameterIndex scale, ParameterIndex shift, float epsilon)
      : x_(x), statistics_(statistics), y_(y), scale_(scale), shift_(shift), epsilon_(epsilon) {}
  /// `x` is the sum of `added` and what is in its memory before, which may be added up here.
  void set_added(const Value& added) {
    added_ = added;
    follows_add_ = true;
  }

  void forward(Pass& pass) const override {
    const auto span = pass.forward_span();
    if (follows_add_ && adds_in_norm(pass)) {
      pass.device().add_layer_norm_forward(pass[added_], pass[x_], pass.vector(scale_), pass.vector(shift_), epsilon_,
                                           pass[statistics_], pass[y_]);
      return;
    }
    pass.device().layer_norm_forward(pass[x_], pass.vector(scale_), pass.vector(shift_), epsilon_,
                                     pass[statistics_], pass[y_]);
  }
  void backward(Pass& pass) const override {
    {
      const auto span = pass.backward_span();
      const GradientWrite write = pass.write(scale_);
      pass.write(shift_);
      const GradientWrite x_write = pass.write(x_);
      pass.device().layer_norm_backward(pass[x_], pass.vector(scale_), pass[statistics_], pass.gradient(y_),
                                        write, pass.gradient_of(scale_), pass.gradient_of(shift_), x_write,
                                        pass.gradient(x_));
    }
    pass.finish(shift_);
    pass.finish(scale_);
  }

 private:
  Value x_;
  Value statistics_;
  Value y_;
  ParameterIndex scale_;
  ParameterIndex shift_;
  float epsilon_;
  Value added_{};
  bool follows_add_ = false;
};

class Add final : public Layer {
 public:
  Add(Value x, Value branch, bool before_norm) : x_(x), branch_(branch), before_norm_(before_norm) {}
  void forward(Pass& pass) const override {
    if (before_norm_ && adds_in_norm(pass)) return;
    const auto span = pass.forward_span();
    pass.device().add(pass[x_], pass[branch_]);
  }
  // One gradient for all three: it is there already.
  void backward(Pass& pass) const override {
    pass.write(x_);
    pass.write(branch_);
  }

 private:
  Value x_;
  Value branch_;
  bool before_norm_;
};

/// layer_norm(), or of the sum of x's memory and `added`.
Value add_norm(Network& network, const std::string& name, Value x, float epsilon, const Value* added) {
  const Value y = network.value(x.rows, x.columns);
  const Value statistics = network.statistics(x.rows, 2);
  const ParameterIndex scale =
      network.vector({name + ".weight", 1, x.columns, x.columns, Initial::constant(1)});
  const ParameterIndex shift =
      network.vector({name + ".bias", 1, x.columns, x.columns, Initial::constant(0)});
  auto layer = std::make_unique<LayerNorm>(x, statistics, y, scale, shift, epsilon);
  Node node{.name = name,
            .inputs = {x},
            .outputs = {y, statistics},
            .kept = {x, statistics},
            .parameters = {scale, shift}};
  if (added != nullptr) {
    layer->set_added(*added);
    node.inputs.push_back(*added);  // its memory is needed until here
  }
  node.layer = std::move(layer);
  network.add(std::move(node));
  return y;
}

Value add_sum(Network& network, const std::string& name, Value x, Value branch, bool before_norm) {
  const Value y = network.value(x.rows, x.columns);
  network.share_value(branch, y);
  network.share_gradient(y, branch);
  network.share_gradient(y, x);
  network.add({.name = name,
               .layer = std::make_unique<Add>(x, branch, before_norm),
               .inputs = {x, branch},
               .outputs = {y}});
  return y;
}

}  // namespace

Value layer_norm(Network& network, const std::string& name, Value x, float epsilon) {
  return add_norm(network, name, x, epsilon, nullptr);
}

Value add(Network& network, const std::string& name, Value x, Value branch) {
  return add_sum(network, name, x, branch, false);
}

SumAndNorm add_layer_norm(Network& network, const std::string& add_name, const std::string& norm_name, Value x,
                          Value branch, float epsilon) {
  const Value sum = add_sum(network, add_name, x, branch, true);
  return {sum, add_norm(network, norm_name, sum, epsilon, &x)};
}

}  // namespace ddbench::workload
