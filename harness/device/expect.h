#pragma once

#include <cstdint>
#include <initializer_list>

#include "harness/device/tensor.h"

namespace ddbench::device {

/// What an operator must be called with: the checks that all devices make.
struct Expected {
  const char* name;
  const Tensor& tensor;
  std::int64_t rows;
  std::int64_t columns;
  DataType type = DataType::kFloat32;
  bool may_be_padded = false;
};

/// Throws Error{kBadInput} that names the operation and the first tensor that is not as expected, has no memory, or
/// has padded rows where it may not.
void expect(const char* operation, std::initializer_list<Expected> tensors);

struct ExpectedVector {
  const char* name;
  const Tensor& tensor;
  bool half = false;  ///< of a 16-bit type instead of float32
};

/// The same of tensors of any shape with as many elements as the first.
void expect_alike(const char* operation, std::initializer_list<ExpectedVector> vectors);

/// Throws Error{kBadInput} for what `holds` is false.
void expect_that(const char* operation, bool holds, const char* rule);

}  // namespace ddbench::device
