#pragma once

#include <cudnn_backend.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <variant>
#include <vector>

#include "cudnn_operations.h"

struct cudnnContext {
  cudaStream_t stream = nullptr;
};

/// What describes a cuDNN graph. Whatever is wrong is thrown as a Refusal.
namespace ddbench::cuda_on_host {

class GraphDescriptor;

/// How the library calls the type of an attribute's values.
template <typename Value>
constexpr cudnnBackendAttributeType_t kTypeOf = CUDNN_TYPE_INT64;
template <>
inline constexpr auto kTypeOf<bool> = CUDNN_TYPE_BOOLEAN;
template <>
inline constexpr auto kTypeOf<float> = CUDNN_TYPE_FLOAT;
template <>
inline constexpr auto kTypeOf<void*> = CUDNN_TYPE_VOID_PTR;
template <>
inline constexpr auto kTypeOf<cudnnHandle_t> = CUDNN_TYPE_HANDLE;
template <>
inline constexpr auto kTypeOf<cudnnDataType_t> = CUDNN_TYPE_DATA_TYPE;
template <>
inline constexpr auto kTypeOf<cudnnConvolutionMode_t> = CUDNN_TYPE_CONVOLUTION_MODE;
template <>
inline constexpr auto kTypeOf<cudnnPointwiseMode_t> = CUDNN_TYPE_POINTWISE_MODE;
template <>
inline constexpr auto kTypeOf<cudnnReduceTensorOp_t> = CUDNN_TYPE_REDUCTION_OPERATOR_TYPE;
template <>
inline constexpr auto kTypeOf<cudnnBackendHeurMode_t> = CUDNN_TYPE_HEUR_MODE;

/// The attributes set on a descriptor, by name.
class GraphAttributes {
 public:
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
           const void* values);

  bool has(cudnnBackendAttributeName_t name) const { return known_.contains(name); }
  template <typename Value>
  std::vector<Value> all(cudnnBackendAttributeName_t name) {
    const Attribute& attribute = find(name, kTypeOf<Value>);
    std::vector<Value> values(attribute.count);
    std::memcpy(values.data(), attribute.bytes.data(), attribute.bytes.size());
    return values;
  }
  template <typename Value>
  Value one(cudnnBackendAttributeName_t name) {
    const Attribute& attribute = find(name, kTypeOf<Value>);
    demand(attribute.count == 1, "an attribute has not one value");
    Value value{};
    std::memcpy(&value, attribute.bytes.data(), attribute.bytes.size());
    return value;
  }
  using Parts = std::vector<std::shared_ptr<const GraphDescriptor>>;
  const Parts& parts(cudnnBackendAttributeName_t name) {
    return find(name, CUDNN_TYPE_BACKEND_DESCRIPTOR).parts;
  }
  /// Demands that every attribute that was set was also read.
  void demand_all_found() const;

 private:
  struct Attribute {
    cudnnBackendAttributeType_t type;
    std::int64_t count;
    std::vector<std::byte> bytes;
    Parts parts;
    bool found = false;
  };
  const Attribute& find(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type);

  std::map<cudnnBackendAttributeName_t, Attribute> known_;
};

struct OperationGraph {
  cudnnHandle_t handle = nullptr;
  std::vector<GraphOperation> operations;
  std::map<std::int64_t, GraphTensor> tensors;
};

/// The memory of tensors.
struct VariantPack {
  std::vector<std::int64_t> ids;
  std::vector<void*> memory;
  void* workspace = nullptr;
};

struct ProductRule {};

/// A backend descriptor; the library's handle is a pointer to a shared_ptr of one.
class GraphDescriptor {
 public:
  using Meaning =
      std::variant<std::monostate, GraphTensor, ConvolutionRule, PointwiseRule, ProductRule,
                   cudnnReduceTensorOp_t, GraphOperation, std::shared_ptr<const OperationGraph>, VariantPack>;

  explicit GraphDescriptor(cudnnBackendDescriptorType_t type) : type_(type) {}

  cudnnBackendDescriptorType_t type() const { return type_; }
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
           const void* values);
  void finalize();
  bool is_final() const { return !std::holds_alternative<std::monostate>(meaning_); }
  template <typename Kind>
  const Kind& as() const {
    const Kind* const kind = std::get_if<Kind>(&meaning_);
    demand(kind != nullptr, "a descriptor is of another type than the one expected, or not finalized");
    return *kind;
  }
  /// Heuristics, engines' configurations, engines and plans are known by their graph and the engine's number.
  void stand_for(std::shared_ptr<const OperationGraph> graph, int engine) {
    meaning_ = std::move(graph);
    engine_ = engine;
  }
  int engine() const { return engine_; }

 private:
  template <typename Kind>
  const Kind& part(cudnnBackendAttributeName_t name);
  bool is_set(cudnnBackendAttributeName_t name);
  void demand_float(cudnnBackendAttributeName_t name);
  ConvolutionRule::Pair pair(cudnnBackendAttributeName_t name, std::int64_t least);
  Meaning described();
  GraphTensor tensor();
  ConvolutionRule convolution_rule();
  PointwiseRule pointwise_rule();
  GraphOperation pointwise_operation();
  GraphOperation convolution_operation(ConvolutionPass pass);
  std::shared_ptr<const OperationGraph> graph();
  /// Of what stands for one.
  std::shared_ptr<const OperationGraph> graph_of(cudnnBackendAttributeName_t name,
                                                 cudnnBackendDescriptorType_t type);
  std::shared_ptr<const OperationGraph> heuristics();
  std::shared_ptr<const OperationGraph> plan();
  VariantPack variant_pack();

  const cudnnBackendDescriptorType_t type_;
  GraphAttributes attributes_;
  Meaning meaning_;
  int engine_ = 0;
};

}  // namespace ddbench::cuda_on_host
