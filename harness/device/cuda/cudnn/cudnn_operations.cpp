#include "harness/device/cuda/cudnn/cudnn_operations.h"

#include <utility>

namespace ddbench::device::cuda {
namespace {

Operations::Sizes dense_strides(const Operations::Sizes& dimensions) {
  Operations::Sizes strides(dimensions.size(), 1);
  for (std::size_t i = dimensions.size(); i-- > 1;) strides[i - 1] = strides[i] * dimensions[i];
  return strides;
}

Descriptor pointwise_rule(cudnnPointwiseMode_t mode, cudnnDataType_t computed_in) {
  Descriptor rule(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  rule.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
  rule.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &computed_in);
  return rule;
}

}  // namespace

const Descriptor& Operations::memory(std::int64_t id, cudnnDataType_t type, const Sizes& dimensions,
                                     const Sizes& strides, std::int64_t alignment) {
  return keep(tensor_descriptor(id, type, dimensions, strides, alignment));
}

const Descriptor& Operations::number(std::int64_t id, std::size_t dimensions) {
  const Sizes one(dimensions, 1);
  return keep(tensor_descriptor(id, CUDNN_DATA_FLOAT, one, one, kAlignment, TensorPlace::kHost));
}

const Descriptor& Operations::inner(const Sizes& dimensions, cudnnDataType_t type) {
  return keep(tensor_descriptor(inner_++, type, dimensions, dense_strides(dimensions), kAlignment,
                                TensorPlace::kGraph));
}

const Descriptor& Operations::add(Descriptor operation, const Descriptor& y) {
  operation.finalize("describe an operation");
  operations_.push_back(std::move(operation));
  return y;
}

const Descriptor& Operations::matmul(const Descriptor& a, const Descriptor& b, const Descriptor& y) {
  Descriptor rule(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  const cudnnDataType_t sums = CUDNN_DATA_FLOAT;
  rule.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &sums);
  rule.finalize("describe a product");
  Descriptor operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, y);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, keep(std::move(rule)));
  return add(std::move(operation), y);
}

const Descriptor& Operations::pointwise(const Descriptor& rule, Inputs inputs, const Descriptor& y) {
  constexpr cudnnBackendAttributeName_t kPlaces[] = {CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                                                     CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                                                     CUDNN_ATTR_OPERATION_POINTWISE_TDESC};
  Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, rule);
  const cudnnBackendAttributeName_t* place = kPlaces;
  for (const Descriptor& input : inputs) operation.set(*place++, input);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  return add(std::move(operation), y);
}

const Descriptor& Operations::pointwise(cudnnPointwiseMode_t mode, Inputs inputs, const Descriptor& y) {
  Descriptor rule = pointwise_rule(mode, CUDNN_DATA_FLOAT);
  rule.finalize("describe a function");
  return pointwise(keep(std::move(rule)), inputs, y);
}

const Descriptor& Operations::compare(cudnnPointwiseMode_t mode, const Descriptor& a, const Descriptor& b,
                                      const Descriptor& y) {
  Descriptor rule = pointwise_rule(mode, CUDNN_DATA_BOOLEAN);
  rule.finalize("describe a comparison");
  return pointwise(keep(std::move(rule)), {a, b}, y);
}

const Descriptor& Operations::index(std::int64_t axis, const Descriptor& like, const Descriptor& y) {
  Descriptor rule = pointwise_rule(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_FLOAT);
  rule.set(CUDNN_ATTR_POINTWISE_AXIS, Sizes{axis});
  rule.finalize("describe an index");
  return pointwise(keep(std::move(rule)), {like}, y);
}

const Descriptor& Operations::reduce(cudnnReduceTensorOp_t mode, const Descriptor& x, const Descriptor& y) {
  Descriptor rule(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  const cudnnDataType_t sums = CUDNN_DATA_FLOAT;
  rule.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &mode);
  rule.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &sums);
  rule.finalize("describe a reduction");
  Descriptor operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, keep(std::move(rule)));
  return add(std::move(operation), y);
}

const Descriptor& Operations::view(const Descriptor& x, cudnnDataType_t type, const Sizes& dimensions,
                                   const Sizes& strides) {
  const Descriptor& y =
      keep(tensor_descriptor(inner_++, type, dimensions, strides, kAlignment, TensorPlace::kGraph));
  Descriptor operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x);
  operation.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y);
  return add(std::move(operation), y);
}

}  // namespace ddbench::device::cuda
