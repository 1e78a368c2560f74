#include "harness/device/expect.h"

#include <fmt/format.h>

#include "core/error.h"

namespace ddbench::device {
namespace {

bool is_half(const Tensor& tensor) {
  return tensor.type == DataType::kFloat16 || tensor.type == DataType::kBfloat16;
}

}  // namespace

void expect(const char* operation, std::initializer_list<Expected> tensors) {
  for (const auto& [name, tensor, rows, columns, type, may_be_padded] : tensors) {
    const bool lies_well = tensor.is_dense() || (may_be_padded && tensor.leading() > columns);
    const bool fits = lies_well && tensor.rows == rows && tensor.columns == columns && tensor.type == type;
    if (fits && tensor.data != nullptr && tensor.elements() > 0) continue;
    throw Error(ErrorCode::kBadInput,
                fmt::format("{}: {} is {} x {} {}{}{} where {} x {} {} is needed", operation, name, tensor.rows,
                            tensor.columns, name_of(tensor.type),
                            lies_well ? "" : fmt::format(", a row each {}", tensor.leading()),
                            tensor.data == nullptr ? " without memory" : "", rows, columns, name_of(type)),
                0, operation);
  }
}

void expect_alike(const char* operation, std::initializer_list<ExpectedVector> vectors) {
  const std::int64_t elements = vectors.begin()->tensor.elements();
  for (const auto& [name, tensor, half] : vectors) {
    const bool of_type = half ? is_half(tensor) : tensor.type == DataType::kFloat32;
    const bool has_numbers = tensor.data != nullptr && tensor.is_dense() && elements > 0;
    if (of_type && has_numbers && tensor.elements() == elements) continue;
    throw Error(ErrorCode::kBadInput,
                fmt::format("{}: {} has {} elements{}{} where {} elements of {} are needed", operation, name,
                            tensor.elements(), tensor.data == nullptr ? " without memory" : "",
                            of_type ? "" : " of another type", elements, half ? "16 bits" : "float32"),
                0, operation);
  }
}

void expect_that(const char* operation, bool holds, const char* rule) {
  if (!holds) throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", operation, rule), 0, operation);
}

}  // namespace ddbench::device
