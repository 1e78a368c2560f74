#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "harness/device/network_operators.h"

namespace ddbench::device::cpu {

struct OneDnn;

/// c[m,n] (+)= activation(op(a)[m,k] * op(b)[k,n] + bias[1,n]) with row-major memory; a transposed operand
/// lies there as [k,m] or [n,k]. a and b are of type `in`; the bias is float32.
struct ProductShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  DataType in = DataType::kFloat32;
  DataType out = DataType::kFloat32;
  bool bias = false;
  Activation activation = Activation::kNone;
  bool accumulate = false;
  std::int64_t a_stride = 0;  ///< from one row of a, as it lies there, to the next; 0: dense
  std::int64_t c_stride = 0;  ///< likewise of c
  friend auto operator<=>(const ProductShape&, const ProductShape&) = default;
};

/// Matrix products as oneDNN's matmul primitives. A primitive is made once for each shape and then only
/// pointed at the caller's memory.
class MatrixProducts {
 public:
  MatrixProducts();
  ~MatrixProducts();

  void run(const ProductShape& shape, const void* a, const void* b, const void* bias, void* c);

 private:
  struct Primitive;

  Primitive& primitive(const ProductShape& shape);

  std::unique_ptr<OneDnn> onednn_;
  std::map<ProductShape, std::unique_ptr<Primitive>> primitives_;
};

/// A float32 matrix inside of a wider one: its rows start `stride` numbers apart.
struct Strided {
  const float* data = nullptr;
  std::int64_t stride = 0;
  bool transposed = false;
};

/// c[m,n] = factor * op(a)[m,k] * op(b)[k,n] + keep * c, through oneDNN's sgemm; rows of c are c_stride
/// apart.
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, float factor, const Strided& a,
              const Strided& b, float keep, float* c, std::int64_t c_stride);

/// "oneDNN 2.6.3, AVX512": the instruction set that oneDNN may use here.
std::string onednn_description();

}  // namespace ddbench::device::cpu
