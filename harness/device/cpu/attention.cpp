// Attention a head and a block of queries at a time: the probabilities of one block are all that is ever
// there, and keys after the block are skipped where they are masked.
#include <algorithm>
#include <cmath>

#include "harness/device/cpu/cpu_device.h"
#include "harness/device/cpu/expect.h"
#include "harness/device/cpu/widest_vectors.h"

namespace ddbench::device::cpu {
namespace {

constexpr std::int64_t kBlock = 128;  // queries

/// out[rows, width] = factor * in[rows, width], whose rows are `stride` apart.
template <typename T>
void pack(const T* in, std::int64_t rows, std::int64_t width, std::int64_t stride, float factor, float* out) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < width; ++i) out[row * width + i] = factor * load(in, row * stride + i);
  }
}

template <typename T>
void unpack(const float* in, std::int64_t rows, std::int64_t width, std::int64_t stride, T* out) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < width; ++i) store(out, row * stride + i, in[row * width + i]);
  }
}

/// values[0, seen) become their softmax and values[seen, all) 0; the logarithm of the sum of exponentials.
DDBENCH_WIDEST_VECTORS
float softmax(float* __restrict values, std::int64_t seen, std::int64_t all) {
  const std::int64_t whole = seen / kLanes * kLanes;
  float lanes[kLanes];
  std::fill_n(lanes, kLanes, values[0]);
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = values[i + lane] > lanes[lane] ? values[i + lane] : lanes[lane];
    }
  }
  for (std::int64_t i = whole; i < seen; ++i) lanes[0] = std::max(lanes[0], values[i]);
  const float largest = *std::max_element(lanes, lanes + kLanes);
  std::fill_n(lanes, kLanes, 0.0F);
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      values[i + lane] = exponential(values[i + lane] - largest);
      lanes[lane] += values[i + lane];
    }
  }
  for (std::int64_t i = whole; i < seen; ++i) {
    values[i] = exponential(values[i] - largest);
    lanes[0] += values[i];
  }
  const float sum = sum_of(lanes);
  const float share = 1.0F / sum;
  for (std::int64_t i = 0; i < seen; ++i) values[i] *= share;
  for (std::int64_t i = seen; i < all; ++i) values[i] = 0.0F;
  return largest + std::log(sum);
}

/// scores become probabilities p = e^(score - log_sum), slopes become p * (slope - mean); 0 from `seen` on.
DDBENCH_WIDEST_VECTORS
void softmax_gradient(float* __restrict scores, float* __restrict slopes, std::int64_t seen, std::int64_t all,
                      float log_sum, float mean) {
  for (std::int64_t i = 0; i < seen; ++i) {
    scores[i] = exponential(scores[i] - log_sum);
    slopes[i] = scores[i] * (slopes[i] - mean);
  }
  for (std::int64_t i = seen; i < all; ++i) scores[i] = slopes[i] = 0.0F;
}

/// The sizes of one call, and the memory of one head: matrices of T x width, and blocks of kBlock x T.
struct Head {
  Head(const AttentionShape& shape, std::int64_t all_channels)
      : sequence(shape.sequence),
        channels(all_channels),
        width(all_channels / shape.heads),
        causal(shape.mask == AttentionMask::kCausal),
        scale(1.0F / std::sqrt(static_cast<float>(width))) {}

  std::int64_t matrix() const { return sequence * width; }
  std::int64_t block() const { return std::min(kBlock, sequence) * sequence; }
  /// Keys that some query of the block [first, first + rows) sees.
  std::int64_t keys(std::int64_t first, std::int64_t rows) const { return causal ? first + rows : sequence; }
  std::int64_t seen(std::int64_t query) const { return causal ? query + 1 : sequence; }

  std::int64_t sequence;
  std::int64_t channels;
  std::int64_t width;
  bool causal;
  float scale;
};

struct HeadMemory {
  HeadMemory(Scratch& scratch, const Head& head, std::int64_t matrices, std::int64_t blocks)
      : next(scratch.floats(matrices * head.matrix() + blocks * head.block())) {}
  float* take(std::int64_t count) {
    float* const taken = next;
    next += count;
    return taken;
  }
  float* next;
};

template <typename T>
void head_forward(const Head& head, Scratch& scratch, const T* qkv, float* log_sums, T* y) {
  HeadMemory memory(scratch, head, 4, 1);
  float* const q = memory.take(head.matrix());
  float* const k = memory.take(head.matrix());
  float* const v = memory.take(head.matrix());
  float* const out = memory.take(head.matrix());
  float* const scores = memory.take(head.block());
  const std::int64_t d = head.width;
  pack(qkv, head.sequence, d, 3 * head.channels, head.scale, q);
  pack(qkv + head.channels, head.sequence, d, 3 * head.channels, 1.0F, k);
  pack(qkv + 2 * head.channels, head.sequence, d, 3 * head.channels, 1.0F, v);
  for (std::int64_t first = 0; first < head.sequence; first += kBlock) {
    const std::int64_t rows = std::min(kBlock, head.sequence - first);
    const std::int64_t keys = head.keys(first, rows);
    multiply(rows, keys, d, 1.0F, {q + first * d, d}, {.data = k, .stride = d, .transposed = true}, 0.0F,
             scores, keys);
    for (std::int64_t i = 0; i < rows; ++i) {
      log_sums[first + i] = softmax(scores + i * keys, head.seen(first + i), keys);
    }
    multiply(rows, d, keys, 1.0F, {scores, keys}, {v, d}, 0.0F, out + first * d, d);
  }
  unpack(out, head.sequence, d, head.channels, y);
}

template <typename T>
void head_backward(const Head& head, Scratch& scratch, const T* qkv, const T* y, const float* log_sums,
                   const T* dy, T* dqkv) {
  HeadMemory memory(scratch, head, 7, 2);
  float* const q = memory.take(head.matrix());
  float* const k = memory.take(head.matrix());
  float* const v = memory.take(head.matrix());
  float* const slope = memory.take(head.matrix());
  float* const dq = memory.take(head.matrix());
  float* const dk = memory.take(head.matrix());
  float* const dv = memory.take(head.matrix());
  float* const scores = memory.take(head.block());
  float* const slopes = memory.take(head.block());
  const std::int64_t d = head.width;
  const std::int64_t stride = 3 * head.channels;
  pack(qkv, head.sequence, d, stride, head.scale, q);
  pack(qkv + head.channels, head.sequence, d, stride, 1.0F, k);
  pack(qkv + 2 * head.channels, head.sequence, d, stride, 1.0F, v);
  pack(dy, head.sequence, d, head.channels, 1.0F, slope);
  std::fill_n(dk, head.matrix(), 0.0F);
  std::fill_n(dv, head.matrix(), 0.0F);
  for (std::int64_t first = 0; first < head.sequence; first += kBlock) {
    const std::int64_t rows = std::min(kBlock, head.sequence - first);
    const std::int64_t keys = head.keys(first, rows);
    const Strided block_slope{slope + first * d, d};
    multiply(rows, keys, d, 1.0F, {q + first * d, d}, {.data = k, .stride = d, .transposed = true}, 0.0F,
             scores, keys);
    multiply(rows, keys, d, 1.0F, block_slope, {.data = v, .stride = d, .transposed = true}, 0.0F, slopes,
             keys);
    for (std::int64_t i = 0; i < rows; ++i) {
      float mean = 0;  // of the slopes, weighted with the probabilities
      for (std::int64_t j = 0; j < d; ++j) {
        mean += load(y, (first + i) * head.channels + j) * slope[(first + i) * d + j];
      }
      softmax_gradient(scores + i * keys, slopes + i * keys, head.seen(first + i), keys, log_sums[first + i],
                       mean);
    }
    multiply(keys, d, rows, 1.0F, {.data = scores, .stride = keys, .transposed = true}, block_slope, 1.0F, dv,
             d);
    multiply(keys, d, rows, 1.0F, {.data = slopes, .stride = keys, .transposed = true}, {q + first * d, d},
             1.0F, dk, d);
    multiply(rows, d, keys, head.scale, {slopes, keys}, {k, d}, 0.0F, dq + first * d, d);
  }
  unpack(dq, head.sequence, d, stride, dqkv);
  unpack(dk, head.sequence, d, stride, dqkv + head.channels);
  unpack(dv, head.sequence, d, stride, dqkv + 2 * head.channels);
}

Head checked(const char* operation, const AttentionShape& shape, const Tensor& qkv, const Tensor& statistics,
             const Tensor& y) {
  const std::int64_t rows = shape.batch * shape.sequence;
  expect_that(operation,
              shape.heads > 0 && y.columns > 0 && y.columns % shape.heads == 0 && shape.batch > 0 &&
                  shape.sequence > 0,
              "the channels must be a multiple of the heads, of at least one sequence");
  expect(operation, {{"qkv", qkv, rows, 3 * y.columns, qkv.type},
                     {"statistics", statistics, shape.batch * shape.heads, shape.sequence},
                     {"y", y, rows, y.columns, qkv.type}});
  return {shape, y.columns};
}

}  // namespace

void CpuDevice::attention_forward(const AttentionShape& shape, const Tensor& qkv, const Tensor& statistics,
                                  const Tensor& y) {
  const Head head = checked("attention_forward", shape, qkv, statistics, y);
  with_elements(
      "attention_forward",
      [&](const auto* in, auto* out) {
        for (std::int64_t i = 0; i < shape.batch * shape.heads; ++i) {
          const std::int64_t row = i / shape.heads * shape.sequence;
          const std::int64_t column = i % shape.heads * head.width;
          head_forward(head, scratch_, in + row * 3 * head.channels + column,
                       floats(statistics) + i * shape.sequence, out + row * head.channels + column);
        }
      },
      qkv, y);
}

void CpuDevice::attention_backward(const AttentionShape& shape, const Tensor& qkv, const Tensor& y,
                                   const Tensor& statistics, const Tensor& dy, const Tensor& dqkv) {
  const Head head = checked("attention_backward", shape, qkv, statistics, y);
  expect("attention_backward",
         {{"dy", dy, y.rows, y.columns, qkv.type}, {"dqkv", dqkv, qkv.rows, qkv.columns, qkv.type}});
  with_elements(
      "attention_backward",
      [&](const auto* in, const auto* out, const auto* gradient, auto* in_gradient) {
        for (std::int64_t i = 0; i < shape.batch * shape.heads; ++i) {
          const std::int64_t row = i / shape.heads * shape.sequence;
          const std::int64_t column = i % shape.heads * head.width;
          const std::int64_t at = row * head.channels + column;
          const std::int64_t at_qkv = row * 3 * head.channels + column;
          head_backward(head, scratch_, in + at_qkv, out + at, floats(statistics) + i * shape.sequence,
                        gradient + at, in_gradient + at_qkv);
        }
      },
      qkv, y, dy, dqkv);
}

}  // namespace ddbench::device::cpu
