#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "ddbench/device/device.h"

namespace ddbench::device::cpu {

/// y = activation(x * weight^T + bias) as one oneDNN matmul primitive with the bias and the activation fused
/// in. A primitive is made once for each shape and then only pointed at the caller's memory.
class LinearForward {
 public:
  LinearForward();
  ~LinearForward();

  void run(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation, const Tensor& y);

 private:
  struct Engine;
  struct Primitive;
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, Activation>;  // batch, in, out

  Primitive& primitive(const Key& key);

  std::unique_ptr<Engine> engine_;
  std::map<Key, std::unique_ptr<Primitive>> primitives_;
};

/// c[m,n] = a^(T?) * b[k,n] + beta * c with row-major memory, through oneDNN's sgemm. `transpose_a`: a is
/// [k,m], else [m,k].
void product(bool transpose_a, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, const float* b,
             float beta, float* c);

/// "oneDNN 2.6.3, AVX512": the instruction set that oneDNN may use here.
std::string onednn_description();

}  // namespace ddbench::device::cpu
