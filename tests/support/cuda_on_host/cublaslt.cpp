// cuBLASLt, as far as it is called: it refuses what its documentation forbids, and an algorithm chosen for
// another product or for memory with better alignment.
#include <cublasLt.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>
#include <optional>

#include "algorithms.h"
#include "counted_work.h"
#include "cublaslt_product.h"
#include "stream.h"

struct cublasLtContext {};

namespace ddbench::cuda_on_host {
namespace {

using std::chrono::steady_clock;

struct ProductPreference {
  std::uint64_t workspace_bytes = 0;
  Choice::Alignments alignments = {256, 256, 256, 256};
};

/// What is behind one of the header's opaque descriptors.
template <typename Value, typename Opaque>
struct Boxed : Opaque {
  explicit Boxed(const Value& contents) : Opaque{}, value(contents) {}
  Value value;
};

template <typename Value, typename Opaque>
cublasStatus_t create(Opaque** handle, const Value& value) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new (std::nothrow) Boxed<Value, Opaque>(value);
  return *handle == nullptr ? CUBLAS_STATUS_ALLOC_FAILED : CUBLAS_STATUS_SUCCESS;
}

template <typename Value, typename Opaque>
Value& contents(Opaque* handle) {
  return static_cast<Boxed<Value, Opaque>*>(handle)->value;
}

template <typename Value, typename Opaque>
cublasStatus_t destroy(Opaque* handle) {
  delete static_cast<Boxed<Value, Opaque>*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

template <typename Value>
cublasStatus_t assign(Value& value, const void* from, std::size_t bytes) {
  if (from == nullptr || bytes != sizeof value) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&value, from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

std::optional<MatrixProduct> product_of(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                        cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                        cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d) {
  if (handle == nullptr || operation == nullptr) return std::nullopt;
  if (a == nullptr || b == nullptr || c == nullptr || d == nullptr) return std::nullopt;
  return MatrixProduct{contents<ProductOperation>(operation), contents<MatrixLayout>(a),
                       contents<MatrixLayout>(b), contents<MatrixLayout>(c), contents<MatrixLayout>(d)};
}

bool are_possible(const Choice::Alignments& alignments, const MatrixProduct& product) {
  const MatrixLayout* const layouts[] = {&product.a, &product.b, &product.c, &product.d};
  return std::equal(alignments.begin(), alignments.end(), layouts,
                    [](std::uint32_t alignment, const auto* x) {
                      return std::has_single_bit(alignment) && alignment >= size_of(x->format());
                    });
}

bool has_memory(const QueuedProduct& queued) {
  const MatrixProduct& p = queued.product;
  return queued.a != nullptr && queued.b != nullptr && queued.d != nullptr &&
         (queued.c != nullptr || queued.beta == 0.0F) &&
         (queued.c != queued.d || (p.c.leading == p.d.leading && p.c.stride == p.d.stride)) &&
         (p.operation.bias != nullptr || !p.operation.has_vector()) &&
         (p.operation.aux != nullptr || !p.operation.has_aux());
}

}  // namespace
}  // namespace ddbench::cuda_on_host

using namespace ddbench::cuda_on_host;

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new (std::nothrow) cublasLtContext;
  return *handle == nullptr ? CUBLAS_STATUS_ALLOC_FAILED : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

std::size_t cublasLtGetVersion() {
  return CUBLAS_VERSION;
}

const char* cublasLtGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "success";
    case CUBLAS_STATUS_INVALID_VALUE: return "an invalid value";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "not supported";
    default: return "failure";
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns, std::int64_t leading) {
  return create(layout, MatrixLayout{type, static_cast<std::int64_t>(rows),
                                     static_cast<std::int64_t>(columns), leading});
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return destroy<MatrixLayout>(layout);
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t name, const void* value,
                                                std::size_t bytes) {
  auto& to = contents<MatrixLayout>(layout);
  switch (name) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return assign(to.batch, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return assign(to.stride, value, bytes);
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* operation, cublasComputeType_t compute,
                                        cudaDataType_t scale_type) {
  return create(operation, ProductOperation{compute, scale_type});
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  return destroy<ProductOperation>(operation);
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                              cublasLtMatmulDescAttributes_t name, const void* value,
                                              std::size_t bytes) {
  auto& to = contents<ProductOperation>(operation);
  switch (name) {
    case CUBLASLT_MATMUL_DESC_TRANSA: return assign(to.transpose_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB: return assign(to.transpose_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return assign(to.epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return assign(to.bias, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return assign(to.bias_type, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: return assign(to.aux, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: return assign(to.aux_leading, value, bytes);
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return create(preference, ProductPreference{});
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy<ProductPreference>(preference);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t name,
                                                    const void* value, std::size_t bytes) {
  auto& to = contents<ProductPreference>(preference);
  switch (name) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES: return assign(to.workspace_bytes, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES: return assign(to.alignments[0], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES: return assign(to.alignments[1], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES: return assign(to.alignments[2], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES: return assign(to.alignments[3], value, bytes);
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int* found) {
  const std::optional<MatrixProduct> product = product_of(handle, operation, a, b, c, d);
  if (!product || preference == nullptr || wanted < 1 || results == nullptr || found == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *found = 0;
  const cublasStatus_t refusal = product->refusal();
  if (refusal != CUBLAS_STATUS_SUCCESS) return refusal;
  const auto& alignments = contents<ProductPreference>(preference).alignments;
  if (!are_possible(alignments, *product)) return CUBLAS_STATUS_INVALID_VALUE;
  Choice choice = Choice::of(*product, alignments);
  for (*found = 0; *found < std::min(wanted, proposed_algorithms()); ++*found) {
    choice.number = *found;
    results[*found] = {};
    results[*found].algo = std::bit_cast<cublasLtMatmulAlgo_t>(choice);
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* /*workspace*/,
                              std::size_t /*workspace_bytes*/, cudaStream_t stream) {
  const std::optional<MatrixProduct> product =
      product_of(handle, operation, a_layout, b_layout, c_layout, d_layout);
  if (!product || alpha == nullptr || beta == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const cublasStatus_t refusal = product->refusal();
  if (refusal != CUBLAS_STATUS_SUCCESS) return refusal;
  const QueuedProduct queued{
      *product, *static_cast<const float*>(alpha), *static_cast<const float*>(beta), a, b, c, d};
  const Choice needed =
      Choice::of(*product, {alignment_of(a), alignment_of(b), alignment_of(c), alignment_of(d)});
  const bool is_chosen = algorithm == nullptr || std::bit_cast<Choice>(*algorithm).serves(needed);
  if (!has_memory(queued) || !is_chosen) return CUBLAS_STATUS_INVALID_VALUE;
  count_work(CountedWork::kProducts);
  const int number = algorithm == nullptr ? 0 : std::bit_cast<Choice>(*algorithm).number;
  if (number == kFastAlgorithm) count_work(CountedWork::kFastProducts);
  const cudaError_t status = enqueue(stream, [queued, lasts = slowness_of(number), ends = std::optional<steady_clock::time_point>()]() mutable {
    if (!ends) {
      queued.run();
      ends = steady_clock::now() + lasts;
    }
    return steady_clock::now() >= *ends;
  });
  return status == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
