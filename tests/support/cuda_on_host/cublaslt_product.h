#pragma once

#include <cublasLt.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "numbers.h"

namespace ddbench::cuda_on_host {

/// A column-major matrix, and as many more as the batch has, each `stride` numbers after the one before.
struct MatrixLayout {
  cudaDataType type;
  std::int64_t rows, columns, leading;
  std::int32_t batch = 1;
  std::int64_t stride = 0;

  Format format() const;
  bool is_valid() const;
  /// Numbers from the first to the last one of a matrix.
  std::int64_t extent() const { return (columns - 1) * leading + rows; }
};

struct ProductOperation {
  cublasComputeType_t compute;
  cudaDataType scale_type;
  std::int32_t transpose_a = CUBLAS_OP_N, transpose_b = CUBLAS_OP_N;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  std::int32_t bias_type = -1;
  void* aux = nullptr;  // the matrix that a GELU is, or was, taken of
  std::int64_t aux_leading = 0;

  bool adds_bias() const { return (epilogue & CUBLASLT_EPILOGUE_BIAS) != 0; }
  bool cuts() const { return (epilogue & CUBLASLT_EPILOGUE_RELU) != 0; }
  bool sums_b() const { return epilogue == CUBLASLT_EPILOGUE_BGRADB; }
  bool takes_gelu() const { return (epilogue & ~CUBLASLT_EPILOGUE_BIAS) == CUBLASLT_EPILOGUE_GELU_AUX; }
  bool multiplies_slope() const { return epilogue == CUBLASLT_EPILOGUE_DGELU; }
  bool has_vector() const { return adds_bias() || sums_b(); }
  bool has_aux() const { return takes_gelu() || multiplies_slope(); }
};

/// d = epilogue(alpha * op(a) * op(b) + beta * c), as cublasLtMatmul() describes it.
struct MatrixProduct {
  ProductOperation operation;
  MatrixLayout a, b, c, d;

  bool transposes_a() const { return operation.transpose_a == CUBLAS_OP_T; }
  bool transposes_b() const { return operation.transpose_b == CUBLAS_OP_T; }
  std::int64_t sum_length() const { return transposes_a() ? a.rows : a.columns; }
  /// What the library would answer to a product that it does not compute; success for any other.
  cublasStatus_t refusal() const;
};

/// The power of two, up to 256, that an address is a multiple of.
std::uint32_t alignment_of(const void* address);

/// What an algorithm is for; it lies in the library's opaque cublasLtMatmulAlgo_t.
struct Choice {
  using Alignments = std::array<std::uint32_t, 4>;  // of a, b, c and d

  std::int32_t m, n, k, batch, transposes, type_a, type_d, epilogue;
  Alignments alignments;
  std::uint32_t bias_alignment;
  std::uint32_t aux_alignment;
  std::int32_t number;  ///< of several that serve the same
  std::uint32_t mark;

  static Choice of(const MatrixProduct& product, const Alignments& alignments);
  /// Whether what was chosen for this product and alignment serves that one, whichever its number.
  bool serves(const Choice& that) const;
};
static_assert(sizeof(Choice) == sizeof(cublasLtMatmulAlgo_t));

/// A product and its numbers, which are read when it runs.
struct QueuedProduct {
  MatrixProduct product;
  float alpha, beta;
  const void *a, *b, *c;
  void* d;

  void run() const;

 private:
  void sum_columns_of_b() const;
  template <typename Number>
  void finish(std::int64_t i, const float* products, const float* bias) const;
};

}  // namespace ddbench::cuda_on_host
