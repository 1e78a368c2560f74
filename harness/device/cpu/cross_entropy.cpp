#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "harness/device/cpu/cpu_device.h"
#include "harness/device/cpu/expect.h"
#include "harness/device/cpu/widest_vectors.h"

namespace ddbench::device::cpu {
namespace {

struct Normalizer {
  float largest;
  float sum;  // of e^(x - largest)
};

template <typename T>
[[gnu::always_inline]] inline float largest_of(const T* __restrict x, std::int64_t columns) {
  const std::int64_t whole = columns / kLanes * kLanes;
  float lanes[kLanes];
  std::fill_n(lanes, kLanes, load(x, 0));
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const float value = load(x, i + lane);
      lanes[lane] = value > lanes[lane] ? value : lanes[lane];
    }
  }
  for (std::int64_t i = whole; i < columns; ++i) lanes[0] = std::max(lanes[0], load(x, i));
  return *std::max_element(lanes, lanes + kLanes);
}

/// Adds e^(x - largest) to the lanes.
[[gnu::always_inline]] inline void add_exponentials(const float* __restrict x, std::int64_t columns,
                                                    float largest, float (&lanes)[kLanes]) {
  const std::int64_t whole = columns / kLanes * kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += exponential(x[i + lane] - largest);
  }
  for (std::int64_t i = whole; i < columns; ++i) lanes[0] += exponential(x[i] - largest);
}

DDBENCH_WIDEST_VECTORS
Normalizer normalizer(const float* x, std::int64_t columns) {
  const float largest = largest_of(x, columns);
  float lanes[kLanes] = {};
  add_exponentials(x, columns, largest, lanes);
  return {largest, sum_of(lanes)};
}
DDBENCH_WIDEST_VECTORS
Normalizer normalizer(const Bfloat16* x, std::int64_t columns) {
  const float largest = largest_of(x, columns);
  float lanes[kLanes] = {};
  float block[kBlockNumbers];
  for (std::int64_t first = 0; first < columns; first += kBlockNumbers) {
    const std::int64_t count = std::min(kBlockNumbers, columns - first);
    load_block(x + first, count, block);
    add_exponentials(block, count, largest, lanes);
  }
  return {largest, sum_of(lanes)};
}

/// dx = factor * e^(x - largest); dx may be x.
DDBENCH_WIDEST_VECTORS
void scaled(const float* x, std::int64_t columns, float largest, float factor, float* dx) {
  for (std::int64_t i = 0; i < columns; ++i) dx[i] = factor * exponential(x[i] - largest);
}
DDBENCH_WIDEST_VECTORS
void scaled(const Bfloat16* x, std::int64_t columns, float largest, float factor, Bfloat16* dx) {
  float block[kBlockNumbers];
  for (std::int64_t first = 0; first < columns; first += kBlockNumbers) {
    const std::int64_t count = std::min(kBlockNumbers, columns - first);
    load_block(x + first, count, block);
    for (std::int64_t i = 0; i < count; ++i) block[i] = factor * exponential(block[i] - largest);
    store_block(block, count, dx + first);
  }
}

/// How many rows count.
std::int64_t count_labels(const std::int32_t* label, std::int64_t rows, std::int64_t classes) {
  std::int64_t counted = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    if (label[i] == kIgnoredLabel) continue;
    if (label[i] < 0 || label[i] >= classes) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("softmax_cross_entropy: label {} is {}; labels are 0 to {}, or {} where a row "
                              "does not count",
                              i, label[i], classes - 1, kIgnoredLabel),
                  0, "softmax_cross_entropy");
    }
    ++counted;
  }
  return counted;
}

}  // namespace

void CpuDevice::softmax_cross_entropy(const Tensor& logits, const Tensor& labels, const Tensor& loss,
                                      float scale, const Tensor& dlogits) {
  const std::int64_t classes = logits.columns;
  expect("softmax_cross_entropy", {{"logits", logits, logits.rows, classes, logits.type, true},
                                   {"labels", labels, logits.rows, 1, DataType::kInt32},
                                   {"loss", loss, 1, 1},
                                   {"dlogits", dlogits, logits.rows, classes, logits.type, true}});
  const auto* const label = static_cast<const std::int32_t*>(labels.data);
  const std::int64_t counted = count_labels(label, logits.rows, classes);
  const float share = counted == 0 ? 0.0F : scale / static_cast<float>(counted);
  double total = 0;
  with_elements(
      "softmax_cross_entropy",
      [&](const auto* x, auto* dx) {
        for (std::int64_t row = 0; row < logits.rows; ++row) {
          const auto* const in = x + row * logits.leading();
          auto* const out = dx + row * dlogits.leading();
          if (label[row] == kIgnoredLabel) {
            for (std::int64_t i = 0; i < classes; ++i) store(out, i, 0.0F);
            continue;
          }
          const Normalizer all = normalizer(in, classes);
          const float of_label = load(in, label[row]);
          total += std::log(static_cast<double>(all.sum)) + static_cast<double>(all.largest - of_label);
          scaled(in, classes, all.largest, share / all.sum, out);
          store(out, label[row], share * (exponential(of_label - all.largest) / all.sum - 1.0F));
        }
      },
      logits, dlogits);
  *floats(loss) = static_cast<float>(counted == 0 ? 0.0 : total / static_cast<double>(counted));
}

}  // namespace ddbench::device::cpu
