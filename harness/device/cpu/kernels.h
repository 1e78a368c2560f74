#pragma once

#include <cstdint>

/// The loops that oneDNN has no primitive for, or none that is quicker. Plain pointers, no checks; a result
/// never depends on the instruction set chosen at run time (no fused multiply-add), so that ranks on
/// different machines stay in step.
namespace ddbench::device::cpu {

/// sums[columns] (+)= sum over rows of values[rows, columns]
void column_sums(const float* values, std::int64_t rows, std::int64_t columns, bool accumulate, float* sums);

void relu_backward(const float* y, float* dy, std::int64_t elements);

/// Mean loss; logits and dlogits are [rows, columns], labels [rows].
float softmax_cross_entropy(const float* logits, const std::int32_t* labels, std::int64_t rows,
                            std::int64_t columns, float* dlogits);

void fill(float* destination, std::int64_t elements, float value);

void scale(float* values, std::int64_t elements, float factor);

}  // namespace ddbench::device::cpu
