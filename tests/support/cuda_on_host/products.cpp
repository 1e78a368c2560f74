#include "products.h"

#include <algorithm>
#include <vector>

namespace ddbench::cuda_on_host {
namespace {

// A tile of c that fits the registers of any x86-64.
constexpr std::int64_t kTileRows = 4;
constexpr std::int64_t kTileColumns = 8;

/// The matrix in panels of kWidth columns, each row of a panel behind the one before; zeros past the end.
template <std::int64_t kWidth>
std::vector<float> panels(std::int64_t rows, std::int64_t columns, MatrixView matrix) {
  std::vector<float> packed((columns + kWidth - 1) / kWidth * kWidth * rows);
  for (std::int64_t first = 0; first < columns; first += kWidth) {
    const std::int64_t width = std::min(kWidth, columns - first);
    float* to = packed.data() + first * rows;
    const float* from = matrix.data + first * matrix.column_stride;
    for (std::int64_t row = 0; row < rows; ++row, to += kWidth, from += matrix.row_stride) {
      for (std::int64_t i = 0; i < width; ++i) to[i] = from[i * matrix.column_stride];
    }
  }
  return packed;
}

void multiply_tile(std::int64_t k, const float* a, const float* b, float (&sums)[kTileRows][kTileColumns]) {
  using Four = float __attribute__((vector_size(16), aligned(4), may_alias));
  Four s[kTileRows][2] = {};
  for (std::int64_t l = 0; l < k; ++l, a += kTileRows, b += kTileColumns) {
    const Four left = *reinterpret_cast<const Four*>(b);
    const Four right = *reinterpret_cast<const Four*>(b + 4);
#pragma GCC unroll 4
    for (std::int64_t row = 0; row < kTileRows; ++row) {
      s[row][0] += a[row] * left;
      s[row][1] += a[row] * right;
    }
  }
  for (std::int64_t row = 0; row < kTileRows; ++row) {
    for (std::int64_t i = 0; i < kTileColumns; ++i) sums[row][i] = s[row][i / 4][i % 4];
  }
}

}  // namespace

void multiply(std::int64_t m, std::int64_t n, std::int64_t k, MatrixView a, MatrixView b, float* c) {
  const std::vector<float> rows = panels<kTileRows>(k, m, {a.data, a.column_stride, a.row_stride});
  const std::vector<float> columns = panels<kTileColumns>(k, n, b);
  float sums[kTileRows][kTileColumns];
  for (std::int64_t column = 0; column < n; column += kTileColumns) {
    const std::int64_t width = std::min(kTileColumns, n - column);
    for (std::int64_t row = 0; row < m; row += kTileRows) {
      multiply_tile(k, rows.data() + row * k, columns.data() + column * k, sums);
      for (std::int64_t i = 0; i < std::min(kTileRows, m - row); ++i) {
        std::copy_n(sums[i], width, c + (row + i) * n + column);
      }
    }
  }
}

}  // namespace ddbench::cuda_on_host
