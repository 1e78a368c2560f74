#pragma once

#include <cstdint>

namespace ddbench::cuda_on_host {

/// A matrix of float32 that lies in memory one way or another.
struct MatrixView {
  const float* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
};

/// c[m,n] = a[m,k] * b[k,n]; c is row-major and dense. Each sum is float32, in the order of k, whatever the
/// strides.
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, MatrixView a, MatrixView b, float* c);

}  // namespace ddbench::cuda_on_host
