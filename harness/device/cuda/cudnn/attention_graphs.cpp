#include "harness/device/cuda/cudnn/attention_graphs.h"

#include <utility>

namespace ddbench::device::cuda {
namespace {

using Sizes = Operations::Sizes;

constexpr std::size_t kDimensions = 4;  // batch, heads, rows, columns

/// A graph of attention in the making, with the tensors that both passes have.
class AttentionGraph {
 public:
  explicit AttentionGraph(const FusedShape& shape)
      : b_(shape.attention.batch),
        h_(shape.attention.heads),
        t_(shape.attention.sequence),
        w_(shape.width),
        type_(cudnn_type(shape.type)),
        causal_(shape.attention.mask == AttentionMask::kCausal) {}

  Operations take() { return std::move(made_); }
  Operations* operator->() noexcept { return &made_; }

  /// [T,width] of each head, `parts` of which lie side by side in a row of the memory.
  const Descriptor& rows(AttentionTensor id, std::int64_t parts) {
    return made_.memory(id, type_, row_sizes(), row_strides(parts));
  }
  /// The transpose of that.
  const Descriptor& columns(AttentionTensor id, std::int64_t parts) {
    const std::int64_t row = parts * h_ * w_;
    return made_.memory(id, type_, {b_, h_, w_, t_}, {t_ * row, w_, 1, row});
  }
  /// A float32 number for each query.
  const Descriptor& numbers(AttentionTensor id) {
    return made_.memory(id, CUDNN_DATA_FLOAT, number_sizes(), {h_ * t_, t_, 1, 1}, sizeof(float));
  }
  const Descriptor& constant(AttentionTensor id) { return made_.number(id, kDimensions); }

  /// Columns as rows again.
  const Descriptor& as_rows(const Descriptor& columns, std::int64_t parts) {
    return made_.view(columns, type_, row_sizes(), row_strides(parts));
  }
  const Descriptor& transposed_scores(const Descriptor& x) {
    return made_.view(x, type_, score_sizes(), {h_ * t_ * t_, t_ * t_, 1, t_});
  }

  Sizes row_sizes() const { return {b_, h_, t_, w_}; }
  Sizes row_strides(std::int64_t parts) const {
    const std::int64_t row = parts * h_ * w_;
    return {t_ * row, w_, row, 1};
  }
  Sizes score_sizes() const { return {b_, h_, t_, t_}; }
  Sizes number_sizes() const { return {b_, h_, t_, 1}; }
  cudnnDataType_t type() const noexcept { return type_; }

  const Descriptor& scores() { return made_.inner(score_sizes()); }
  /// Scores with those that a query must not see at minus infinity.
  const Descriptor& masked(const Descriptor& x) {
    if (!causal_) return x;
    const Descriptor& query = made_.index(2, x, made_.inner(score_sizes(), CUDNN_DATA_INT32));
    const Descriptor& key = made_.index(3, x, made_.inner(score_sizes(), CUDNN_DATA_INT32));
    const Descriptor& seen =
        made_.compare(CUDNN_POINTWISE_CMP_GE, query, key, made_.inner(score_sizes(), CUDNN_DATA_BOOLEAN));
    return made_.pointwise(CUDNN_POINTWISE_BINARY_SELECT, {x, constant(kMinusInfinity), seen}, scores());
  }

 private:
  const std::int64_t b_, h_, t_, w_;
  const cudnnDataType_t type_;
  const bool causal_;
  Operations made_;
};

}  // namespace

Operations attention_forward_graph(const FusedShape& shape) {
  AttentionGraph graph(shape);
  const auto number = [&]() -> const Descriptor& { return graph->inner(graph.number_sizes()); };
  const Descriptor& products =
      graph->matmul(graph.rows(kQueries, 3), graph.columns(kKeys, 3), graph.scores());
  const Descriptor& scores =
      graph.masked(graph->pointwise(CUDNN_POINTWISE_MUL, {products, graph.constant(kScale)}, graph.scores()));
  const Descriptor& largest = graph->reduce(CUDNN_REDUCE_TENSOR_MAX, scores, number());
  const Descriptor& below = graph->pointwise(CUDNN_POINTWISE_SUB, {scores, largest}, graph.scores());
  const Descriptor& powers = graph->pointwise(CUDNN_POINTWISE_EXP, {below}, graph.scores());
  const Descriptor& sum = graph->reduce(CUDNN_REDUCE_TENSOR_ADD, powers, number());
  const Descriptor& logarithm = graph->pointwise(CUDNN_POINTWISE_LOG, {sum}, number());
  graph->pointwise(CUDNN_POINTWISE_ADD, {largest, logarithm}, graph.numbers(kStatistics));
  const Descriptor& probabilities =
      graph->pointwise(CUDNN_POINTWISE_DIV, {powers, sum}, graph->inner(graph.score_sizes(), graph.type()));
  graph->matmul(probabilities, graph.rows(kValues, 3), graph.rows(kOutput, 1));
  return graph.take();
}

// With P the probabilities and r the row products dy * y: dV = P^T dy, dS = P * (dy V^T - r) * scale,
// dK = dS^T Q, dQ = dS K. The product by one stands where dropout would be: the engines look for it. That dQ
// is written by its product makes an engine keep dS in its workspace and add up in a fixed order; with a
// float32 tensor between, it would add with atomics, and not say so in its notes.
Operations attention_backward_graph(const FusedShape& shape) {
  AttentionGraph graph(shape);
  const Descriptor& q = graph.rows(kQueries, 3);
  const Descriptor& k = graph.columns(kKeys, 3);
  const Descriptor& dy = graph.rows(kOutputGradient, 1);
  const Descriptor& scale = graph.constant(kScale);

  const Descriptor& product =
      graph->pointwise(CUDNN_POINTWISE_MUL, {dy, graph.rows(kOutput, 1)}, graph->inner(graph.row_sizes()));
  const Descriptor& sums =
      graph->reduce(CUDNN_REDUCE_TENSOR_ADD, product, graph->inner(graph.number_sizes()));
  const Descriptor& row_products =
      graph->pointwise(CUDNN_POINTWISE_MUL, {sums, graph.constant(kOne)}, graph.numbers(kRowProducts));

  const Descriptor& products = graph->matmul(q, k, graph.scores());
  const Descriptor& scores = graph->pointwise(CUDNN_POINTWISE_MUL, {products, scale}, graph.scores());
  const Descriptor& logarithms = graph.masked(
      graph->pointwise(CUDNN_POINTWISE_SUB, {scores, graph.numbers(kStatistics)}, graph.scores()));
  const Descriptor& probabilities = graph->pointwise(CUDNN_POINTWISE_EXP, {logarithms}, graph.scores());
  graph->matmul(graph.transposed_scores(probabilities), dy, graph.rows(kValuesGradient, 3));

  const Descriptor& slopes = graph->matmul(dy, graph.columns(kValues, 3), graph.scores());
  const Descriptor& centred = graph->pointwise(CUDNN_POINTWISE_SUB, {slopes, row_products}, graph.scores());
  const Descriptor& weighted =
      graph->pointwise(CUDNN_POINTWISE_MUL, {centred, probabilities}, graph.scores());
  const Descriptor& dscores = graph->pointwise(CUDNN_POINTWISE_MUL, {weighted, scale}, graph.scores());
  graph->matmul(graph.transposed_scores(dscores), q, graph.rows(kKeysGradient, 3));
  graph->matmul(dscores, graph.as_rows(k, 3), graph.rows(kQueriesGradient, 3));
  return graph.take();
}

}  // namespace ddbench::device::cuda
