#include "cudnn_descriptors.h"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

namespace ddbench::cuda_on_host {
namespace {

std::size_t bytes_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN: return sizeof(bool);
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR: return 8;
    case CUDNN_TYPE_FLOAT:
    case CUDNN_TYPE_DATA_TYPE:
    case CUDNN_TYPE_CONVOLUTION_MODE:
    case CUDNN_TYPE_POINTWISE_MODE:
    case CUDNN_TYPE_REDUCTION_OPERATOR_TYPE:
    case CUDNN_TYPE_HEUR_MODE: return 4;
    default: throw Refusal{CUDNN_STATUS_NOT_SUPPORTED, "attributes of such a type are not known here"};
  }
}

Format format_of(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_FLOAT: return Format::kFloat32;
    case CUDNN_DATA_HALF: return Format::kFloat16;
    case CUDNN_DATA_BFLOAT16: return Format::kBfloat16;
    case CUDNN_DATA_INT32: return Format::kInt32;
    case CUDNN_DATA_BOOLEAN: return Format::kBoolean;
    default: throw Refusal{CUDNN_STATUS_NOT_SUPPORTED, "tensors of such a type are not known here"};
  }
}

/// That no two elements lie in one place.
void demand_room(const GraphTensor& tensor) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // strides and sizes
  for (std::size_t i = 0; i < tensor.dimensions.size(); ++i) {
    demand(tensor.dimensions[i] > 0 && tensor.strides[i] > 0, "a tensor's dimensions must be above zero");
    if (tensor.dimensions[i] > 1) steps.emplace_back(tensor.strides[i], tensor.dimensions[i]);
  }
  std::sort(steps.begin(), steps.end());
  std::int64_t extent = 1;
  for (const auto& [stride, size] : steps) {
    demand(stride >= extent, "elements of a tensor lie on one another");
    extent = stride * size;
  }
}

/// The order of operations is the order in which they run.
void demand_order(const OperationGraph& graph) {
  std::set<std::int64_t> written;
  for (const GraphOperation& operation : graph.operations) {
    for (const GraphTensor& input : operation.inputs) {
      demand(!input.is_virtual || written.contains(input.id), "an operation reads what none before it made");
    }
    demand(!operation.y.is_by_value, "an operation writes a tensor by value");
    demand(written.insert(operation.y.id).second, "two operations write one tensor");
  }
}

}  // namespace

void GraphAttributes::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                          std::int64_t count, const void* values) {
  demand(count > 0 && values != nullptr, "an attribute has no values");
  Attribute attribute{type, count, std::vector<std::byte>(bytes_of(type) * count), {}};
  std::memcpy(attribute.bytes.data(), values, attribute.bytes.size());
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto* const part = static_cast<std::shared_ptr<GraphDescriptor>*>(
          static_cast<const cudnnBackendDescriptor_t*>(values)[i]);
      demand(part != nullptr && (*part)->is_final(), "an attribute is a descriptor that is not finalized",
             CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
      attribute.parts.push_back(*part);
    }
  }
  known_.insert_or_assign(name, std::move(attribute));
}

const GraphAttributes::Attribute& GraphAttributes::find(cudnnBackendAttributeName_t name,
                                                        cudnnBackendAttributeType_t type) {
  const auto found = known_.find(name);
  if (found == known_.end() || found->second.type != type) {
    throw Refusal{CUDNN_STATUS_BAD_PARAM,
                  "attribute " + std::to_string(name) + " is missing or has another type"};
  }
  found->second.found = true;
  return found->second;
}

void GraphAttributes::demand_all_found() const {
  for (const auto& [name, attribute] : known_) {
    if (attribute.found) continue;
    throw Refusal{CUDNN_STATUS_BAD_PARAM, "attribute " + std::to_string(name) + " does not belong here"};
  }
}

void GraphDescriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                          std::int64_t count, const void* values) {
  demand(!is_final(), "a descriptor is changed that is finalized");
  attributes_.set(name, type, count, values);
}

void GraphDescriptor::finalize() {
  demand(!is_final(), "a descriptor is finalized for the second time");
  Meaning meaning = described();
  attributes_.demand_all_found();
  meaning_ = std::move(meaning);
}

template <typename Kind>
const Kind& GraphDescriptor::part(cudnnBackendAttributeName_t name) {
  const GraphAttributes::Parts& parts = attributes_.parts(name);
  demand(parts.size() == 1, "an attribute is not one descriptor");
  return parts.front()->as<Kind>();
}

GraphDescriptor::Meaning GraphDescriptor::described() {
  switch (type_) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR: return tensor();
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR: return convolution_rule();
    case CUDNN_BACKEND_POINTWISE_DESCRIPTOR: return pointwise_rule();
    case CUDNN_BACKEND_REDUCTION_DESCRIPTOR:
      demand_float(CUDNN_ATTR_REDUCTION_COMP_TYPE);
      return attributes_.one<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR);
    case CUDNN_BACKEND_MATMUL_DESCRIPTOR: demand_float(CUDNN_ATTR_MATMUL_COMP_TYPE); return ProductRule{};
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: return pointwise_operation();
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
      return reduction(part<cudnnReduceTensorOp_t>(CUDNN_ATTR_OPERATION_REDUCTION_DESC),
                       part<GraphTensor>(CUDNN_ATTR_OPERATION_REDUCTION_XDESC),
                       part<GraphTensor>(CUDNN_ATTR_OPERATION_REDUCTION_YDESC));
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      part<ProductRule>(CUDNN_ATTR_OPERATION_MATMUL_DESC);
      return matrix_product(part<GraphTensor>(CUDNN_ATTR_OPERATION_MATMUL_ADESC),
                            part<GraphTensor>(CUDNN_ATTR_OPERATION_MATMUL_BDESC),
                            part<GraphTensor>(CUDNN_ATTR_OPERATION_MATMUL_CDESC));
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
      return view(part<GraphTensor>(CUDNN_ATTR_OPERATION_RESHAPE_XDESC),
                  part<GraphTensor>(CUDNN_ATTR_OPERATION_RESHAPE_YDESC));
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
      return convolution_operation(ConvolutionPass::kForward);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
      return convolution_operation(ConvolutionPass::kBackwardData);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
      return convolution_operation(ConvolutionPass::kBackwardFilter);
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR: return graph();
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR: return heuristics();
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: return plan();
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR: return variant_pack();
    default: throw Refusal{CUDNN_STATUS_NOT_SUPPORTED, "such a descriptor is not known here"};
  }
}

void GraphDescriptor::demand_float(cudnnBackendAttributeName_t name) {
  demand(attributes_.one<cudnnDataType_t>(name) == CUDNN_DATA_FLOAT, "sums are float32 here",
         CUDNN_STATUS_NOT_SUPPORTED);
}

GraphTensor GraphDescriptor::tensor() {
  GraphTensor made{.id = attributes_.one<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID),
                   .format = format_of(attributes_.one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE)),
                   .dimensions = attributes_.all<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS),
                   .strides = attributes_.all<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES),
                   .alignment = attributes_.one<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT),
                   .is_virtual = is_set(CUDNN_ATTR_TENSOR_IS_VIRTUAL),
                   .is_by_value = is_set(CUDNN_ATTR_TENSOR_IS_BY_VALUE)};
  demand(made.dimensions.size() == made.strides.size() && made.dimensions.size() <= CUDNN_DIM_MAX,
         "a tensor has not as many strides as dimensions");
  demand_room(made);
  demand(made.alignment > 0 && std::has_single_bit(static_cast<std::uint64_t>(made.alignment)) &&
             made.alignment >= size_of(made.format),
         "a tensor's alignment is not one of its numbers");
  demand(!made.is_virtual || !made.is_by_value, "a tensor is virtual and by value");
  const bool is_one =
      std::all_of(made.dimensions.begin(), made.dimensions.end(), [](auto n) { return n == 1; });
  demand(!made.is_by_value || (is_one && made.format == Format::kFloat32),
         "a tensor by value is not one float32", CUDNN_STATUS_NOT_SUPPORTED);
  return made;
}

bool GraphDescriptor::is_set(cudnnBackendAttributeName_t name) {
  return attributes_.has(name) && attributes_.one<bool>(name);
}

ConvolutionRule::Pair GraphDescriptor::pair(cudnnBackendAttributeName_t name, std::int64_t least) {
  const std::vector<std::int64_t> values = attributes_.all<std::int64_t>(name);
  demand(values.size() == 2 && values[0] >= least && values[1] >= least,
         "a convolution is not one of two dimensions");
  return {values[0], values[1]};
}

ConvolutionRule GraphDescriptor::convolution_rule() {
  demand_float(CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
  demand(attributes_.one<std::int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS) == 2 &&
             attributes_.one<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE) ==
                 CUDNN_CROSS_CORRELATION,
         "convolutions are cross-correlations of two dimensions here", CUDNN_STATUS_NOT_SUPPORTED);
  return {.padding_before = pair(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 0),
          .padding_after = pair(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 0),
          .stride = pair(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 1),
          .dilation = pair(CUDNN_ATTR_CONVOLUTION_DILATIONS, 1)};
}

PointwiseRule GraphDescriptor::pointwise_rule() {
  PointwiseRule rule{.mode = attributes_.one<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE)};
  const auto computed_in = attributes_.one<cudnnDataType_t>(CUDNN_ATTR_POINTWISE_MATH_PREC);
  rule.is_logical = computed_in == CUDNN_DATA_BOOLEAN;
  demand(rule.is_logical || computed_in == CUDNN_DATA_FLOAT, "functions are computed in float32 here",
         CUDNN_STATUS_NOT_SUPPORTED);
  if (rule.mode == CUDNN_POINTWISE_GEN_INDEX) {
    rule.axis = attributes_.one<std::int64_t>(CUDNN_ATTR_POINTWISE_AXIS);
  }
  return rule;
}

GraphOperation GraphDescriptor::pointwise_operation() {
  std::vector<GraphTensor> inputs;
  for (const auto name : {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                          CUDNN_ATTR_OPERATION_POINTWISE_TDESC}) {
    if (attributes_.has(name)) inputs.push_back(part<GraphTensor>(name));
  }
  return pointwise(part<PointwiseRule>(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR), inputs,
                   part<GraphTensor>(CUDNN_ATTR_OPERATION_POINTWISE_YDESC));
}

GraphOperation GraphDescriptor::convolution_operation(ConvolutionPass pass) {
  // The names of convolution, x, w, y, alpha and beta.
  constexpr cudnnBackendAttributeName_t kNames[][6] = {
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA}};
  const auto& names = kNames[static_cast<std::size_t>(pass)];
  return convolution(pass, part<ConvolutionRule>(names[0]), part<GraphTensor>(names[1]),
                     part<GraphTensor>(names[2]), part<GraphTensor>(names[3]),
                     attributes_.one<float>(names[4]), attributes_.one<float>(names[5]));
}

std::shared_ptr<const OperationGraph> GraphDescriptor::graph() {
  auto made = std::make_shared<OperationGraph>();
  made->handle = attributes_.one<cudnnHandle_t>(CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  demand(made->handle != nullptr, "a graph has no handle");
  for (const auto& part : attributes_.parts(CUDNN_ATTR_OPERATIONGRAPH_OPS)) {
    const GraphOperation& operation = made->operations.emplace_back(part->as<GraphOperation>());
    std::vector<GraphTensor> tensors = operation.inputs;
    tensors.push_back(operation.y);
    for (const GraphTensor& tensor : tensors) {
      const auto known = made->tensors.emplace(tensor.id, tensor).first;
      demand(known->second == tensor, "two tensors of a graph have one id");
    }
  }
  demand_order(*made);
  return made;
}

std::shared_ptr<const OperationGraph> GraphDescriptor::graph_of(cudnnBackendAttributeName_t name,
                                                                cudnnBackendDescriptorType_t type) {
  demand(attributes_.parts(name).front()->type() == type, "an attribute is a descriptor of another type");
  return part<std::shared_ptr<const OperationGraph>>(name);
}

std::shared_ptr<const OperationGraph> GraphDescriptor::heuristics() {
  attributes_.one<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE);
  auto graph = graph_of(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  for (const GraphOperation& operation : graph->operations) {
    demand(operation.has_engine, "there is no engine for the graph", CUDNN_STATUS_NOT_SUPPORTED);
  }
  return graph;
}

std::shared_ptr<const OperationGraph> GraphDescriptor::plan() {
  auto graph = graph_of(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  demand(attributes_.one<cudnnHandle_t>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE) == graph->handle,
         "a plan has another handle than its graph");
  engine_ = attributes_.parts(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG).front()->engine();
  return graph;
}

VariantPack GraphDescriptor::variant_pack() {
  VariantPack pack{.ids = attributes_.all<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS),
                   .memory = attributes_.all<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS),
                   .workspace = attributes_.one<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE)};
  demand(pack.ids.size() == pack.memory.size(), "a variant pack has not one pointer for each id");
  demand(std::set(pack.ids.begin(), pack.ids.end()).size() == pack.ids.size(),
         "a variant pack names one id twice");
  return pack;
}

}  // namespace ddbench::cuda_on_host
