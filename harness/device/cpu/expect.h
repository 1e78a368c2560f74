#pragma once

#include "harness/device/cpu/number.h"
#include "harness/device/expect.h"

namespace ddbench::device::cpu {

inline float* floats(const Tensor& tensor) {
  return static_cast<float*>(tensor.data);
}

/// Calls loop(T*, T*, ...) with the elements of the tensors, which are of one type: T is float or Bfloat16.
template <typename Loop, typename... Tensors>
void with_elements(const char* operation, const Loop& loop, const Tensor& first, const Tensors&... rest) {
  if (first.type == DataType::kBfloat16) {
    loop(static_cast<Bfloat16*>(first.data), static_cast<Bfloat16*>(rest.data)...);
  } else {
    expect_that(operation, first.type == DataType::kFloat32, "activations must be float32 or bfloat16");
    loop(static_cast<float*>(first.data), static_cast<float*>(rest.data)...);
  }
}

}  // namespace ddbench::device::cpu
