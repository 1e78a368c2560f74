#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/device/gpu/trial.h"
#include "harness/device/device.h"
#include "harness/device/gpu/gpu.h"

namespace ddbench::device::cuda {

/// What is computed with a product besides, without a pass over memory of its own; not in batches.
enum class WithProduct : std::uint8_t {
  kNothing,
  kGelu,          ///< beside[m,n] = alpha * a * b + bias and c = GELU of it, in the form of tanh
  kGeluSlope,     ///< c = alpha * a * b * the derivative of GELU at beside[m,n]
  kBiasGradient,  ///< the sums of a's columns as it lies, [k,m], which is transposed, overwrite `bias`, [1,m]
};

/// `batch` products c[m,n] = activation(alpha * a[m,k] * b[k,n] + bias[1,n] + (c where it accumulates)) of
/// row-major matrices, each behind the one before. Transposed: a lies as [k,m], b as [n,k].
struct Product {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  DataType in = DataType::kFloat32;   ///< of a and b: float32, bfloat16 or float16
  DataType out = DataType::kFloat32;  ///< of c and the bias
  bool bias = false;
  Activation activation = Activation::kNone;
  bool accumulate = false;
  std::int64_t batch = 1;
  WithProduct with = WithProduct::kNothing;
  std::int64_t a_stride = 0;  ///< elements from one row of a, as it lies, to the next; 0: dense
  std::int64_t c_stride = 0;  ///< likewise of c
  friend auto operator<=>(const Product&, const Product&) = default;
};

/// Where the matrices of a product lie; what it has no use for is null. `bias` and `beside` are of the result's type
/// and aligned to MatrixProducts::kVectorAlignment.
struct Operands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  const void* bias = nullptr;  ///< written with WithProduct::kBiasGradient
  void* beside = nullptr;
};

/// Matrix products by cuBLASLt on one stream. Sums are float32. What a product's shape and the alignment of
/// its matrices ask for is settled once and kept: descriptors, and the algorithm. Of several algorithms that cuBLASLt
/// proposes, the first calls outside of a capture time each and keep the fastest (gpu::Trial).
class MatrixProducts {
 public:
  /// `tf32`: float32 is multiplied with 10 bits of mantissa, on tensor cores.
  MatrixProducts(cudaStream_t stream, bool tf32);
  ~MatrixProducts();

  static constexpr std::uintptr_t kVectorAlignment = 16;
  static bool is_aligned(const void* vector) { return reinterpret_cast<std::uintptr_t>(vector) % kVectorAlignment == 0; }

  /// Throws Error{kRunFailed} that names the product when cuBLASLt refuses.
  void run(const Product& product, float alpha, const Operands& operands);
  /// Whether cuBLASLt has an algorithm for it; not every matrix allows a bias, an activation or more with it.
  bool can_run(const Product& product, const Operands& operands);
  static std::string version();

 private:
  struct Plan;
  struct Key {
    Product product;
    std::uint32_t alignment_a, alignment_b, alignment_c;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  static Key key_of(const Product& product, const Operands& operands);
  Plan& plan_of(const Key& key);
  void find_algorithms(Plan& plan, const Key& key);
  cublasStatus_t multiply(const Plan& plan, const cublasLtMatmulHeuristicResult_t& algorithm, float alpha, float beta,
                          const Operands& operands);
  void keep_fastest(Plan& plan, const Product& product, float alpha, const Operands& operands);

  using Handle = UniqueHandle<cublasLtContext, cublasLtDestroy>;
  cudaStream_t stream_;
  const bool tf32_;
  const gpu::Trial trial_;
  Handle handle_;
  void* workspace_ = nullptr;
  std::map<Key, std::unique_ptr<Plan>> plans_;
};

}  // namespace ddbench::device::cuda
