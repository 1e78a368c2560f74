// Attention by cuDNN where it has an engine, else as matrix products, some samples of the batch at a time:
// their scores are all that is kept, and fit a GPU's cache better than those of all.
#include <algorithm>
#include <cmath>

#include "harness/device/cuda/cuda_device.h"
#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/expect.h"

namespace ddbench::device::cuda {
namespace {

constexpr std::int64_t kMostScoreBytes = std::int64_t{128} << 20;

struct Heads {
  AttentionShape shape;
  std::int64_t width;
  DataType type;

  std::int64_t matrices(std::int64_t samples) const { return samples * shape.heads; }
  float scale() const { return 1.0F / std::sqrt(static_cast<float>(width)); }
  FusedShape fused() const { return {shape, width, type}; }
  bool causal() const { return shape.mask == AttentionMask::kCausal; }
  /// Samples whose scores are held at once.
  std::int64_t chunk() const {
    const std::int64_t bytes = shape.heads * shape.sequence * shape.sequence * std::int64_t{sizeof(float)};
    return std::clamp<std::int64_t>(kMostScoreBytes / bytes, 1, shape.batch);
  }
  HeadLayout layout(std::int64_t samples, std::int64_t parts) const {
    return {samples, shape.sequence, shape.heads, width, parts};
  }
  std::int64_t score_count(std::int64_t samples) const {
    return matrices(samples) * shape.sequence * shape.sequence;
  }
  Tensor scores(void* memory, std::int64_t samples, DataType of) const {
    return {memory, matrices(samples) * shape.sequence, shape.sequence, of};
  }
  /// [T,width] of each head times the transpose of another: [T,T], in float32.
  Product outer(std::int64_t samples) const {
    return {.m = shape.sequence,
            .n = shape.sequence,
            .k = width,
            .transpose_b = true,
            .in = type,
            .batch = matrices(samples)};
  }
  /// [T,T] of each head, or its transpose, times [T,width].
  Product inner(std::int64_t samples, bool transposed) const {
    return {.m = shape.sequence,
            .n = width,
            .k = shape.sequence,
            .transpose_a = transposed,
            .in = type,
            .out = type,
            .batch = matrices(samples)};
  }
};

Heads checked(const char* operation, const AttentionShape& shape, const Tensor& qkv, const Tensor& statistics,
              const Tensor& y) {
  const std::int64_t rows = shape.batch * shape.sequence;
  expect_that(operation,
              shape.heads > 0 && y.columns > 0 && y.columns % shape.heads == 0 && shape.batch > 0 &&
                  shape.sequence > 0,
              "the channels must be a multiple of the heads, of at least one sequence");
  expect(operation, {{"qkv", qkv, rows, 3 * y.columns, qkv.type},
                     {"statistics", statistics, shape.batch * shape.heads, shape.sequence},
                     {"y", y, rows, y.columns, qkv.type}});
  expect_activations(operation, qkv);
  return {shape, y.columns / shape.heads, qkv.type};
}

void* at(void* memory, std::int64_t elements, DataType type) {
  return static_cast<std::byte*>(memory) + elements * size_of(type);
}

}  // namespace

void CudaDevice::attention_forward(const AttentionShape& shape, const Tensor& qkv, const Tensor& statistics,
                                   const Tensor& y) {
  const Heads heads = checked("attention_forward", shape, qkv, statistics, y);
  if (fused_attention_.forward(heads.fused(), qkv, statistics, y)) return;
  const std::int64_t number = size_of(heads.type);
  const std::int64_t chunk = heads.chunk();
  const std::int64_t part = heads.layout(chunk, 1).elements();
  const auto [split, scores, narrow, out] = scratch_.pieces(
      {3 * part * number, heads.score_count(chunk) * 4,
       heads.type == DataType::kFloat32 ? 0 : heads.score_count(chunk) * number, part * number});
  void* const probabilities = heads.type == DataType::kFloat32 ? scores : narrow;
  for (std::int64_t first = 0; first < shape.batch; first += chunk) {
    const std::int64_t samples = std::min(chunk, shape.batch - first);
    const std::int64_t one = heads.layout(samples, 1).elements();
    const std::int64_t row = first * shape.sequence;
    split_heads(stream_.get(), heads.layout(samples, 3), heads.type,
                at(qkv.data, row * qkv.columns, heads.type), split);
    void* const k = at(split, one, heads.type);
    void* const v = at(split, 2 * one, heads.type);
    products_.run(heads.outer(samples), 1.0F, {split, k, scores});
    attention_softmax(stream_.get(), heads.scores(scores, samples, DataType::kFloat32), shape.sequence,
                      heads.scale(), heads.causal(), heads.scores(probabilities, samples, heads.type),
                      static_cast<float*>(statistics.data) + row * shape.heads);
    products_.run(heads.inner(samples, false), 1.0F, {probabilities, v, out});
    join_heads(stream_.get(), heads.layout(samples, 1), heads.type, out,
               at(y.data, row * y.columns, heads.type));
  }
}

void CudaDevice::attention_backward(const AttentionShape& shape, const Tensor& qkv, const Tensor& y,
                                    const Tensor& statistics, const Tensor& dy, const Tensor& dqkv) {
  const Heads heads = checked("attention_backward", shape, qkv, statistics, y);
  expect("attention_backward",
         {{"dy", dy, y.rows, y.columns, qkv.type}, {"dqkv", dqkv, qkv.rows, qkv.columns, qkv.type}});
  if (fused_attention_.backward(heads.fused(), qkv, y, statistics, dy, dqkv)) return;
  const DataType type = heads.type;
  const bool wide = type == DataType::kFloat32;
  const std::int64_t number = size_of(type);
  const std::int64_t chunk = heads.chunk();
  const std::int64_t part = heads.layout(chunk, 1).elements();
  const std::int64_t scores_count = heads.score_count(chunk);
  const auto [split, outputs, gradients, scores, dscores, narrow, dnarrow, sums] =
      scratch_.pieces({3 * part * number, 2 * part * number, 3 * part * number, scores_count * 4,
                       scores_count * 4, wide ? 0 : scores_count * number, wide ? 0 : scores_count * number,
                       heads.matrices(chunk) * shape.sequence * 4});
  void* const probabilities = wide ? scores : narrow;
  void* const slopes = wide ? dscores : dnarrow;
  for (std::int64_t first = 0; first < shape.batch; first += chunk) {
    const std::int64_t samples = std::min(chunk, shape.batch - first);
    const std::int64_t one = heads.layout(samples, 1).elements();
    const std::int64_t row = first * shape.sequence;
    const std::int64_t queries = heads.matrices(samples) * shape.sequence;
    void* const k = at(split, one, type);
    void* const v = at(split, 2 * one, type);
    void* const out_gradient = at(outputs, one, type);
    split_heads(stream_.get(), heads.layout(samples, 3), type, at(qkv.data, row * qkv.columns, type), split);
    split_heads(stream_.get(), heads.layout(samples, 1), type, at(y.data, row * y.columns, type), outputs);
    split_heads(stream_.get(), heads.layout(samples, 1), type, at(dy.data, row * dy.columns, type),
                out_gradient);
    row_products(stream_.get(), {outputs, queries, heads.width, type},
                 {out_gradient, queries, heads.width, type}, static_cast<float*>(sums));
    products_.run(heads.outer(samples), 1.0F, {split, k, scores});
    products_.run(heads.outer(samples), 1.0F, {out_gradient, v, dscores});
    attention_softmax_backward(
        stream_.get(), heads.scores(scores, samples, DataType::kFloat32),
        static_cast<const float*>(statistics.data) + row * shape.heads, static_cast<const float*>(sums),
        shape.sequence, heads.scale(), heads.causal(), heads.scores(dscores, samples, DataType::kFloat32),
        heads.scores(probabilities, samples, type), heads.scores(slopes, samples, type));
    products_.run(heads.inner(samples, false), 1.0F, {slopes, k, gradients});
    products_.run(heads.inner(samples, true), 1.0F, {slopes, split, at(gradients, one, type)});
    products_.run(heads.inner(samples, true), 1.0F, {probabilities, out_gradient, at(gradients, 2 * one, type)});
    join_heads(stream_.get(), heads.layout(samples, 3), type, gradients,
               at(dqkv.data, row * dqkv.columns, type));
  }
}

}  // namespace ddbench::device::cuda
