#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "harness/device/device.h"
#include "harness/device/gpu/gpu.h"

namespace ddbench::device::cuda {

/// `batch` products c[m,n] = activation(alpha * a[m,k] * b[k,n] + bias[1,n] + (c where it accumulates)) of
/// dense row-major matrices, each behind the one before. Transposed: a lies as [k,m], b as [n,k].
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
  friend auto operator<=>(const Product&, const Product&) = default;
};

/// Matrix products by cuBLASLt on one stream. Sums are float32. What a product's shape and the alignment of
/// its matrices ask for is settled once and kept.
class MatrixProducts {
 public:
  /// `tf32`: float32 is multiplied with 10 bits of mantissa, on tensor cores.
  MatrixProducts(cudaStream_t stream, bool tf32);
  ~MatrixProducts();

  static constexpr std::uintptr_t kBiasAlignment = 16;

  /// `bias` is aligned to kBiasAlignment. Throws Error{kRunFailed} that names the product when cuBLASLt
  /// refuses.
  void run(const Product& product, float alpha, const void* a, const void* b, const void* bias, void* c);
  /// Whether cuBLASLt has an algorithm for it; not every matrix allows a bias or an activation.
  bool can_run(const Product& product, const void* a, const void* b, const void* c);
  static std::string version();

 private:
  struct Plan;
  struct Key {
    Product product;
    std::uint32_t alignment_a, alignment_b, alignment_c;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  static Key key_of(const Product& product, const void* a, const void* b, const void* c);
  Plan& plan_of(const Key& key);

  using Handle = UniqueHandle<cublasLtContext, cublasLtDestroy>;
  cudaStream_t stream_;
  const bool tf32_;
  Handle handle_;
  void* workspace_ = nullptr;
  std::map<Key, std::unique_ptr<Plan>> plans_;
};

}  // namespace ddbench::device::cuda
