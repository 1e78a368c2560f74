#include "harness/device/cuda/matrix_products.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace ddbench::device::cuda {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;  // what NVIDIA advises for sm_90

constexpr std::uintptr_t kBiasAlignment = MatrixProducts::kBiasAlignment;

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(ErrorCode::kRunFailed,
              fmt::format("cuBLASLt cannot {}: {}", what, cublasLtGetStatusString(status)), status, what);
}

cudaDataType_t cuda_type(DataType type) {
  switch (type) {
    case DataType::kBfloat16: return CUDA_R_16BF;
    case DataType::kFloat16: return CUDA_R_16F;
    default: return CUDA_R_32F;
  }
}

std::string text_of(const Product& p) {
  return fmt::format("{} x {} x {}, batch {}, {} to {}{}{}{}{}", p.m, p.n, p.k, p.batch, name_of(p.in),
                     name_of(p.out), p.transpose_a ? ", a transposed" : "",
                     p.transpose_b ? ", b transposed" : "", p.bias ? ", bias" : "",
                     p.accumulate ? ", accumulating" : "");
}

/// The power of two, up to 256, that an address is a multiple of.
std::uint32_t alignment_of(const void* address) {
  const auto bits = reinterpret_cast<std::uintptr_t>(address);
  std::uint32_t alignment = 256;
  while (bits % alignment != 0) alignment /= 2;
  return alignment;
}

using Layout = UniqueHandle<cublasLtMatrixLayoutOpaque_t, cublasLtMatrixLayoutDestroy>;
using Operation = UniqueHandle<cublasLtMatmulDescOpaque_t, cublasLtMatmulDescDestroy>;
using Preference = UniqueHandle<cublasLtMatmulPreferenceOpaque_t, cublasLtMatmulPreferenceDestroy>;

/// A row-major [rows, columns] is cuBLASLt's column-major [columns, rows].
Layout layout_of(DataType type, std::int64_t rows, std::int64_t columns, std::int64_t batch) {
  cublasLtMatrixLayout_t made = nullptr;
  check(cublasLtMatrixLayoutCreate(&made, cuda_type(type), static_cast<std::uint64_t>(columns),
                                   static_cast<std::uint64_t>(rows), columns),
        "describe a matrix");
  Layout layout(made);
  const auto count = static_cast<std::int32_t>(batch);
  const std::int64_t stride = rows * columns;
  check(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
        "describe a batch");
  check(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                         sizeof stride),
        "describe a batch");
  return layout;
}

template <typename Value>
void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, const Value& value) {
  check(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value), "describe a product");
}

template <typename Value>
void set(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute,
         const Value& value) {
  check(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value),
        "describe a product's preferences");
}

cublasLtEpilogue_t epilogue_of(const Product& p) {
  if (p.bias) return p.activation == Activation::kRelu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
  return p.activation == Activation::kRelu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
}

/// c^T[n,m] = b^T[n,k] * a^T[k,m]: cuBLASLt's A is our b, and what we call transposed is not, for it.
Operation operation_of(const Product& p, bool tf32) {
  const bool fast = tf32 && p.in == DataType::kFloat32;
  cublasLtMatmulDesc_t made = nullptr;
  check(cublasLtMatmulDescCreate(&made, fast ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F),
        "describe a product");
  Operation operation(made);
  set(made, CUBLASLT_MATMUL_DESC_TRANSA, p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(made, CUBLASLT_MATMUL_DESC_TRANSB, p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(made, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(p));
  if (p.bias) {
    set(made, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, cuda_type(p.out));
    // Until the bias exists, a pointer with the alignment that all biases will have.
    set(made, CUBLASLT_MATMUL_DESC_BIAS_POINTER, reinterpret_cast<const void*>(kBiasAlignment));
  }
  return operation;
}

}  // namespace

struct MatrixProducts::Plan {
  Operation operation;
  Layout a;
  Layout b;
  Layout c;
  bool has_algorithm = false;
  cublasLtMatmulAlgo_t algorithm{};
  std::size_t workspace_bytes = 0;
};

MatrixProducts::MatrixProducts(cudaStream_t stream, bool tf32) : stream_(stream), tf32_(tf32) {
  cublasLtHandle_t handle = nullptr;
  check(cublasLtCreate(&handle), "start");
  handle_.reset(handle);
  gpu::check(cudaMallocAsync(&workspace_, kWorkspaceBytes, stream_), "allocate cuBLASLt's workspace");
}

MatrixProducts::~MatrixProducts() {
  cudaFreeAsync(workspace_, stream_);
}

std::string MatrixProducts::version() {
  const auto version = static_cast<int>(cublasLtGetVersion());
  return fmt::format("{}.{}.{}", version / 10'000, version / 100 % 100, version % 100);
}

MatrixProducts::Key MatrixProducts::key_of(const Product& product, const void* a, const void* b,
                                           const void* c) {
  return {product, alignment_of(a), alignment_of(b), alignment_of(c)};
}

MatrixProducts::Plan& MatrixProducts::plan_of(const Key& key) {
  std::unique_ptr<Plan>& plan = plans_[key];
  if (plan) return *plan;
  const Product& p = key.product;
  auto made = std::make_unique<Plan>();
  made->operation = operation_of(p, tf32_);
  made->a = p.transpose_a ? layout_of(p.in, p.k, p.m, p.batch) : layout_of(p.in, p.m, p.k, p.batch);
  made->b = p.transpose_b ? layout_of(p.in, p.n, p.k, p.batch) : layout_of(p.in, p.k, p.n, p.batch);
  made->c = layout_of(p.out, p.m, p.n, p.batch);

  cublasLtMatmulPreference_t wanted = nullptr;
  check(cublasLtMatmulPreferenceCreate(&wanted), "describe a product's preferences");
  const Preference preference(wanted);
  set(wanted, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(kWorkspaceBytes));
  set(wanted, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, key.alignment_b);
  set(wanted, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, key.alignment_a);
  set(wanted, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, key.alignment_c);
  set(wanted, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, key.alignment_c);
  cublasLtMatmulHeuristicResult_t best{};
  int found = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(handle_.get(), made->operation.get(), made->b.get(), made->a.get(),
                                     made->c.get(), made->c.get(), wanted, 1, &best, &found);
  made->has_algorithm = status == CUBLAS_STATUS_SUCCESS && found > 0;
  made->algorithm = best.algo;
  made->workspace_bytes = best.workspaceSize;
  plan = std::move(made);
  return *plan;
}

bool MatrixProducts::can_run(const Product& product, const void* a, const void* b, const void* c) {
  return plan_of(key_of(product, a, b, c)).has_algorithm;
}

void MatrixProducts::run(const Product& product, float alpha, const void* a, const void* b, const void* bias,
                         void* c) {
  Plan& plan = plan_of(key_of(product, a, b, c));
  if (!plan.has_algorithm) {
    throw Error(ErrorCode::kRunFailed,
                fmt::format("cuBLASLt has no algorithm for the product {}", text_of(product)), 0,
                "choose an algorithm");
  }
  if (product.bias) set(plan.operation.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  const float beta = product.accumulate ? 1.0F : 0.0F;
  const cublasStatus_t status = cublasLtMatmul(handle_.get(), plan.operation.get(), &alpha, b, plan.b.get(),
                                               a, plan.a.get(), &beta, c, plan.c.get(), c, plan.c.get(),
                                               &plan.algorithm, workspace_, plan.workspace_bytes, stream_);
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(
      ErrorCode::kRunFailed,
      fmt::format("cuBLASLt failed in the product {}: {}", text_of(product), cublasLtGetStatusString(status)),
      status, "multiply");
}

}  // namespace ddbench::device::cuda
