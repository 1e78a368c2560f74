#include "cpu_device.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "ddbench/record/error.h"
#include "kernels.h"

namespace ddbench::device::cpu {
namespace {

constexpr std::int64_t kAlignment = 64;  // a cache line, and an AVX512 vector

struct Expected {
  const char* name;
  const Tensor& tensor;
  std::int64_t rows;
  std::int64_t columns;
  DataType type = DataType::kFloat32;
};

const char* name_of(DataType type) {
  constexpr const char* kNames[] = {"float32", "int32", "float16", "bfloat16"};
  return kNames[static_cast<std::size_t>(type)];
}

void expect(const char* operation, std::initializer_list<Expected> tensors) {
  for (const auto& [name, tensor, rows, columns, type] : tensors) {
    const bool fits = tensor.rows == rows && tensor.columns == columns && tensor.type == type;
    if (fits && tensor.data != nullptr && tensor.elements() > 0) continue;
    throw Error(ErrorCode::kBadInput,
                fmt::format("{}: {} is {} x {} {}{} where {} x {} {} is needed", operation, name, tensor.rows,
                            tensor.columns, name_of(tensor.type),
                            tensor.data == nullptr ? " without memory" : "", rows, columns, name_of(type)),
                0, operation);
  }
}

float* floats(const Tensor& tensor) {
  return static_cast<float*>(tensor.data);
}

}  // namespace

Buffer CpuDevice::allocate(std::int64_t bytes) {
  const std::int64_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* const memory =
      bytes < 0 ? nullptr : std::aligned_alloc(kAlignment, static_cast<std::size_t>(rounded));
  if (memory == nullptr) {
    throw Error(ErrorCode::kEnvironment,
                fmt::format("no memory for {} bytes: lower the batch, the workload's size or the "
                            "number of ranks on this machine",
                            bytes));
  }
  std::memset(memory, 0, static_cast<std::size_t>(rounded));
  return {memory, bytes, [](void* data) noexcept { std::free(data); }};
}

void CpuDevice::linear_forward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                               Activation activation, const Tensor& y) {
  expect("linear_forward", {{"x", x, x.rows, x.columns},
                            {"weight", weight, y.columns, x.columns},
                            {"bias", bias, 1, y.columns},
                            {"y", y, x.rows, y.columns}});
  linear_forward_.run(x, weight, bias, activation, y);
}

void CpuDevice::linear_backward_input(const Tensor& dy, const Tensor& weight, const Tensor& dx) {
  expect("linear_backward_input", {{"dy", dy, dy.rows, dy.columns},
                                   {"weight", weight, dy.columns, dx.columns},
                                   {"dx", dx, dy.rows, dx.columns}});
  product(false, dx.rows, dx.columns, dy.columns, floats(dy), floats(weight), 0.0F, floats(dx));
}

void CpuDevice::linear_backward_weight(const Tensor& x, const Tensor& dy, GradientWrite write,
                                       const Tensor& dweight, const Tensor& dbias) {
  expect("linear_backward_weight", {{"x", x, x.rows, x.columns},
                                    {"dy", dy, x.rows, dy.columns},
                                    {"dweight", dweight, dy.columns, x.columns},
                                    {"dbias", dbias, 1, dy.columns}});
  const bool accumulate = write == GradientWrite::kAccumulate;
  product(true, dweight.rows, dweight.columns, x.rows, floats(dy), floats(x), accumulate ? 1.0F : 0.0F,
          floats(dweight));
  column_sums(floats(dy), dy.rows, dy.columns, accumulate, floats(dbias));
}

void CpuDevice::relu_backward(const Tensor& y, const Tensor& dy) {
  expect("relu_backward", {{"y", y, y.rows, y.columns}, {"dy", dy, y.rows, y.columns}});
  cpu::relu_backward(floats(y), floats(dy), y.elements());
}

void CpuDevice::softmax_cross_entropy(const Tensor& logits, const Tensor& labels, const Tensor& loss,
                                      const Tensor& dlogits) {
  expect("softmax_cross_entropy", {{"logits", logits, logits.rows, logits.columns},
                                   {"labels", labels, logits.rows, 1, DataType::kInt32},
                                   {"loss", loss, 1, 1},
                                   {"dlogits", dlogits, logits.rows, logits.columns}});
  *floats(loss) = cpu::softmax_cross_entropy(floats(logits), static_cast<const std::int32_t*>(labels.data),
                                             logits.rows, logits.columns, floats(dlogits));
}

void CpuDevice::fill(const Tensor& destination, float value) {
  expect("fill", {{"destination", destination, destination.rows, destination.columns}});
  cpu::fill(floats(destination), destination.elements(), value);
}

void CpuDevice::copy(const Tensor& source, const Tensor& destination) {
  expect("copy", {{"source", source, source.rows, source.columns, source.type},
                  {"destination", destination, source.rows, source.columns, source.type}});
  std::memcpy(destination.data, source.data, static_cast<std::size_t>(source.bytes()));
}

void CpuDevice::scale(const Tensor& values, float factor) {
  expect("scale", {{"values", values, values.rows, values.columns}});
  cpu::scale(floats(values), values.elements(), factor);
}

}  // namespace ddbench::device::cpu
