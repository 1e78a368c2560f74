#include <utility>

#include "harness/model/layers/layers.h"
#include "harness/model/layers/pass.h"

namespace ddbench::workload {
namespace {

using device::GradientWrite;
using device::Tensor;

/// The batch's tokens or labels, one under another.
Tensor as_column(const Tensor& numbers) {
  return {numbers.data, numbers.elements(), 1, numbers.type};
}

class Embed final : public Layer {
 public:
  Embed(const Embeddings& embeddings, Value places, Value zeros, Value y)
      : e_(embeddings), places_(places), zeros_(zeros), y_(y) {}
  void forward(Pass& pass) const override {
    const auto span = pass.forward_span();
    device::Device& device = pass.device();
    device.gather_rows(pass.weight(e_.tokens), as_column(pass.batch().inputs), GradientWrite::kOverwrite,
                       pass[y_]);
    device.gather_rows(pass.weight(e_.positions), pass[places_], GradientWrite::kAccumulate, pass[y_]);
    if (!e_.has_types) return;
    device.gather_rows(pass.weight(e_.types), pass[zeros_], GradientWrite::kAccumulate, pass[y_]);
  }
  void backward(Pass& pass) const override {
    if (e_.has_types) scatter(pass, e_.types, pass[zeros_]);
    scatter(pass, e_.positions, pass[places_]);
    scatter(pass, e_.tokens, as_column(pass.batch().inputs));
  }

 private:
  void scatter(Pass& pass, ParameterIndex table, const Tensor& indices) const {
    {
      const auto span = pass.weight_span();
      const GradientWrite write = pass.write(table);
      pass.device().scatter_add_rows(pass.gradient(y_), indices, write, pass.gradient_of(table));
    }
    pass.finish(table);
  }

  Embeddings e_;
  Value places_;
  Value zeros_;
  Value y_;
};

class Attention final : public Layer {
 public:
  Attention(Value qkv, Value statistics, Value y, std::int64_t heads, device::AttentionMask mask)
      : qkv_(qkv), statistics_(statistics), y_(y), heads_(heads), mask_(mask) {}
  void forward(Pass& pass) const override {
    const auto span = pass.forward_span();
    pass.device().attention_forward(shape(pass), pass[qkv_], statistics(pass), pass[y_]);
  }
  void backward(Pass& pass) const override {
    const auto span = pass.backward_span();
    pass.write_by(qkv_, [&](const Tensor& dx) {
      pass.device().attention_backward(shape(pass), pass[qkv_], pass[y_], statistics(pass), pass.gradient(y_),
                                       dx);
    });
  }

 private:
  device::AttentionShape shape(const Pass& pass) const {
    return {pass.batch_size(), qkv_.rows, heads_, mask_};
  }
  Tensor statistics(const Pass& pass) const {
    Tensor tensor = pass[statistics_];
    tensor.rows = pass.batch_size() * heads_;
    tensor.columns = qkv_.rows;
    return tensor;
  }

  Value qkv_;
  Value statistics_;
  Value y_;
  std::int64_t heads_;
  device::AttentionMask mask_;
};

class CrossEntropy final : public Layer {
 public:
  explicit CrossEntropy(Value logits) : logits_(logits) {}
  void forward(Pass& pass) const override {
    const auto span = pass.forward_span();
    pass.device().softmax_cross_entropy(pass[logits_], as_column(pass.batch().labels), pass.loss(),
                                        pass.loss_scale(), pass.gradient(logits_));
  }
  void backward(Pass& pass) const override { pass.write(logits_); }  // forward has done it

 private:
  Value logits_;
};

}  // namespace

ParameterIndex embedding_table(Network& network, const std::string& name, std::int64_t rows,
                               std::int64_t columns, float deviation) {
  return network.weight({name, rows, columns, columns, Initial::normal(deviation)});
}

Value embed(Network& network, const std::string& name, const Embeddings& embeddings) {
  const Value y = network.value(embeddings.sequence, embeddings.columns);
  const Value places = network.places(embeddings.sequence);
  const Value zeros = embeddings.has_types ? network.zeros(embeddings.sequence) : places;
  Node node{.name = name,
            .layer = std::make_unique<Embed>(embeddings, places, zeros, y),
            .outputs = {y},
            .parameters = {embeddings.tokens, embeddings.positions}};
  if (embeddings.has_types) node.parameters.push_back(embeddings.types);
  network.add(std::move(node));
  return y;
}

Value attention(Network& network, const std::string& name, Value qkv, std::int64_t heads,
                device::AttentionMask mask) {
  const Value y = network.value(qkv.rows, qkv.columns / 3);
  const Value statistics = network.statistics(qkv.rows, heads);
  // Scores and their product with the values, as if no query were masked (Chowdhery et al. 2022, appendix B).
  const double product = 2.0 * static_cast<double>(qkv.rows * qkv.rows * y.columns);
  network.add({.name = name,
               .layer = std::make_unique<Attention>(qkv, statistics, y, heads, mask),
               .inputs = {qkv},
               .outputs = {y, statistics},
               .kept = {qkv, y, statistics},
               .forward_flops = 2 * product,
               .backward_flops = 4 * product,
               .recomputed_flops = product,
               .overwrites_gradients = true});
  return y;
}

void cross_entropy(Network& network, Value logits) {
  network.replace_by_gradient(logits);
  network.add({.name = "cross_entropy", .layer = std::make_unique<CrossEntropy>(logits), .inputs = {logits}});
}

}  // namespace ddbench::workload
