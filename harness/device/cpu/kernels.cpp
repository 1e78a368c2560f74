#include "kernels.h"

#include <algorithm>
#include <cmath>

// One binary for every x86-64: the widest vectors that the machine has are chosen when the module is opened.
// Sanitizers are not up yet at that moment, and other compilers and machines use what they were told to build
// for.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define DDBENCH_WIDEST_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define DDBENCH_WIDEST_VECTORS
#endif

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

DDBENCH_WIDEST_VECTORS
void sgd_momentum(float* __restrict parameter, const float* __restrict gradient, float* __restrict velocity,
                  std::int64_t elements, float lr, float momentum) {
  for (std::int64_t i = 0; i < elements; ++i) {
    const float moved = momentum * velocity[i] + gradient[i];
    velocity[i] = moved;
    parameter[i] -= lr * moved;
  }
}

void fill(float* destination, std::int64_t elements, float value) {
  std::fill_n(destination, elements, value);
}

DDBENCH_WIDEST_VECTORS
void scale(float* values, std::int64_t elements, float factor) {
  for (std::int64_t i = 0; i < elements; ++i) values[i] *= factor;
}

}  // namespace ddbench::device::cpu
