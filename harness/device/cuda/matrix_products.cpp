#include "harness/device/cuda/matrix_products.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace ddbench::device::cuda {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;  // what NVIDIA advises for sm_90

constexpr std::uintptr_t kVectorAlignment = MatrixProducts::kVectorAlignment;

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
  constexpr const char* kWith[] = {"", ", GELU", ", derivative of GELU", ", bias gradient"};
  return fmt::format("{} x {} x {}, batch {}, {} to {}{}{}{}{}{}", p.m, p.n, p.k, p.batch, name_of(p.in),
                     name_of(p.out), p.transpose_a ? ", a transposed" : "",
                     p.transpose_b ? ", b transposed" : "", p.bias ? ", bias" : "",
                     p.accumulate ? ", accumulating" : "", kWith[static_cast<std::size_t>(p.with)]);
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

/// A row-major [rows, columns] is cuBLASLt's column-major [columns, rows]. `stride` 0: dense.
Layout layout_of(DataType type, std::int64_t rows, std::int64_t columns, std::int64_t batch, std::int64_t stride = 0) {
  const std::int64_t leading = stride == 0 ? columns : stride;
  cublasLtMatrixLayout_t made = nullptr;
  check(cublasLtMatrixLayoutCreate(&made, cuda_type(type), static_cast<std::uint64_t>(columns),
                                   static_cast<std::uint64_t>(rows), leading),
        "describe a matrix");
  Layout layout(made);
  const auto count = static_cast<std::int32_t>(batch);
  const std::int64_t matrix = rows * leading;
  check(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
        "describe a batch");
  check(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &matrix,
                                         sizeof matrix),
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
  switch (p.with) {
    case WithProduct::kGelu: return p.bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
    case WithProduct::kGeluSlope: return CUBLASLT_EPILOGUE_DGELU;
    case WithProduct::kBiasGradient: return CUBLASLT_EPILOGUE_BGRADB;  // cuBLASLt's B is our a
    default: break;
  }
  if (p.bias) return p.activation == Activation::kRelu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
  return p.activation == Activation::kRelu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
}

bool has_vector(const Product& p) {
  return p.bias || p.with == WithProduct::kBiasGradient;
}
bool has_matrix_beside(const Product& p) {
  return p.with == WithProduct::kGelu || p.with == WithProduct::kGeluSlope;
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
  // Until they exist, pointers with the alignment that all will have.
  const auto* const somewhere = reinterpret_cast<const void*>(kVectorAlignment);
  if (has_vector(p)) {
    set(made, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, cuda_type(p.out));
    set(made, CUBLASLT_MATMUL_DESC_BIAS_POINTER, somewhere);
  }
  if (has_matrix_beside(p)) {
    set(made, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, p.n);
    set(made, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, somewhere);
  }
  return operation;
}

}  // namespace

struct MatrixProducts::Plan {
  Operation operation;
  Layout a;
  Layout b;
  Layout c;
  /// Best first; one, once it is settled.
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms;
};

MatrixProducts::MatrixProducts(cudaStream_t stream, bool tf32)
    : stream_(stream),
      tf32_(tf32),
      trial_(stream) {
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

MatrixProducts::Key MatrixProducts::key_of(const Product& product, const Operands& operands) {
  return {product, alignment_of(operands.a), alignment_of(operands.b), alignment_of(operands.c)};
}

MatrixProducts::Plan& MatrixProducts::plan_of(const Key& key) {
  std::unique_ptr<Plan>& plan = plans_[key];
  if (plan) return *plan;
  const Product& p = key.product;
  auto made = std::make_unique<Plan>();
  made->operation = operation_of(p, tf32_);
  made->a = p.transpose_a ? layout_of(p.in, p.k, p.m, p.batch, p.a_stride) : layout_of(p.in, p.m, p.k, p.batch, p.a_stride);
  made->b = p.transpose_b ? layout_of(p.in, p.n, p.k, p.batch) : layout_of(p.in, p.k, p.n, p.batch);
  made->c = layout_of(p.out, p.m, p.n, p.batch, p.c_stride);
  find_algorithms(*made, key);
  plan = std::move(made);
  return *plan;
}

void MatrixProducts::find_algorithms(Plan& plan, const Key& key) {
  cublasLtMatmulPreference_t wanted = nullptr;
  check(cublasLtMatmulPreferenceCreate(&wanted), "describe a product's preferences");
  const Preference preference(wanted);
  set(wanted, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(kWorkspaceBytes));
  set(wanted, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, key.alignment_b);
  set(wanted, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, key.alignment_a);
  set(wanted, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, key.alignment_c);
  set(wanted, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, key.alignment_c);
  plan.algorithms.resize(trial_.most_algorithms());
  int found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle_.get(), plan.operation.get(), plan.b.get(), plan.a.get(), plan.c.get(), plan.c.get(), wanted,
      static_cast<int>(plan.algorithms.size()), plan.algorithms.data(), &found);
  plan.algorithms.resize(status == CUBLAS_STATUS_SUCCESS ? static_cast<std::size_t>(found) : 0);
}

bool MatrixProducts::can_run(const Product& product, const Operands& operands) {
  return !plan_of(key_of(product, operands)).algorithms.empty();
}

cublasStatus_t MatrixProducts::multiply(const Plan& plan, const cublasLtMatmulHeuristicResult_t& algorithm, float alpha,
                                        float beta, const Operands& operands) {
  return cublasLtMatmul(handle_.get(), plan.operation.get(), &alpha, operands.b, plan.b.get(), operands.a,
                        plan.a.get(), &beta, operands.c, plan.c.get(), operands.c, plan.c.get(), &algorithm.algo,
                        workspace_, algorithm.workspaceSize, stream_);
}

/// A product that accumulates is timed on other memory; where that does not fit, nothing is tried.
void MatrixProducts::keep_fastest(Plan& plan, const Product& product, float alpha, const Operands& operands) {
  if (!trial_.is_possible()) return;
  Operands timed = operands;
  if (product.accumulate) {
    const std::int64_t row = std::max(product.n, product.c_stride);
    const auto bytes = static_cast<std::size_t>(product.batch * product.m * row * size_of(product.out));
    if (cudaMallocAsync(&timed.c, bytes, stream_) != cudaSuccess) {
      cudaGetLastError();
      plan.algorithms.resize(1);
      return;
    }
  }
  const std::size_t best = trial_.fastest(plan.algorithms.size(), [&](std::size_t i) {
    return multiply(plan, plan.algorithms[i], alpha, product.accumulate ? 1.0F : 0.0F, timed) == CUBLAS_STATUS_SUCCESS;
  });
  plan.algorithms = {plan.algorithms[best]};
  if (product.accumulate) gpu::check(cudaFreeAsync(timed.c, stream_), "free memory of a product");
}

void MatrixProducts::run(const Product& product, float alpha, const Operands& operands) {
  Plan& plan = plan_of(key_of(product, operands));
  if (plan.algorithms.empty()) {
    throw Error(ErrorCode::kRunFailed,
                fmt::format("cuBLASLt has no algorithm for the product {}", text_of(product)), 0,
                "choose an algorithm");
  }
  if (has_vector(product)) set(plan.operation.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands.bias);
  if (has_matrix_beside(product)) set(plan.operation.get(), CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, operands.beside);
  if (plan.algorithms.size() > 1) keep_fastest(plan, product, alpha, operands);
  const cublasStatus_t status =
      multiply(plan, plan.algorithms.front(), alpha, product.accumulate ? 1.0F : 0.0F, operands);
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(
      ErrorCode::kRunFailed,
      fmt::format("cuBLASLt failed in the product {}: {}", text_of(product), cublasLtGetStatusString(status)),
      status, "multiply");
}

}  // namespace ddbench::device::cuda
