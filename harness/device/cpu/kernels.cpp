#include "kernels.h"

#include <algorithm>
#include <cmath>

#include "widest_vectors.h"

namespace ddbench::device::cpu {

DDBENCH_WIDEST_VECTORS
void column_sums(const float* __restrict values, std::int64_t rows, std::int64_t columns, bool accumulate,
                 float* __restrict sums) {
  std::int64_t row = 0;
  if (!accumulate && rows > 0) {
    for (std::int64_t j = 0; j < columns; ++j) sums[j] = values[j];
    row = 1;
  }
  for (; row < rows; ++row) {
    const float* __restrict line = values + row * columns;
    for (std::int64_t j = 0; j < columns; ++j) sums[j] += line[j];
  }
}

DDBENCH_WIDEST_VECTORS
void relu_backward(const float* __restrict y, float* __restrict dy, std::int64_t elements) {
  for (std::int64_t i = 0; i < elements; ++i) dy[i] = y[i] > 0.0F ? dy[i] : 0.0F;
}

float softmax_cross_entropy(const float* logits, const std::int32_t* labels, std::int64_t rows,
                            std::int64_t columns, float* dlogits) {
  const float share = 1.0F / static_cast<float>(rows);
  double total = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* const line = logits + i * columns;
    float* const gradient = dlogits + i * columns;
    const float largest = *std::max_element(line, line + columns);
    float sum = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      gradient[j] = std::exp(line[j] - largest);
      sum += gradient[j];
    }
    total += std::log(sum) + largest - line[labels[i]];
    const float norm = share / sum;
    for (std::int64_t j = 0; j < columns; ++j) gradient[j] *= norm;
    gradient[labels[i]] -= share;
  }
  return static_cast<float>(total / static_cast<double>(rows));
}

void fill(float* destination, std::int64_t elements, float value) {
  std::fill_n(destination, elements, value);
}

DDBENCH_WIDEST_VECTORS
void scale(float* values, std::int64_t elements, float factor) {
  for (std::int64_t i = 0; i < elements; ++i) values[i] *= factor;
}

}  // namespace ddbench::device::cpu
