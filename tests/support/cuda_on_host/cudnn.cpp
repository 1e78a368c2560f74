// cuDNN's graph API, as far as it is called. One engine, or several alike (algorithms.h), takes any graph of operations that
// are known here; it wants a little workspace, and spoils it.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "algorithms.h"
#include "counted_work.h"
#include "cudnn_descriptors.h"
#include "stream.h"

namespace ddbench::cuda_on_host {
namespace {

using DescriptorHandle = std::shared_ptr<GraphDescriptor>;
using Graph = std::shared_ptr<const OperationGraph>;

constexpr std::int64_t kWorkspaceBytes = 256;

thread_local std::string last_error;

/// Does it; what is thrown becomes the status.
template <typename Function>
cudnnStatus_t guarded(Function f) {
  try {
    f();
    return CUDNN_STATUS_SUCCESS;
  } catch (const Refusal& refusal) {
    last_error = refusal.why;
    return refusal.status;
  } catch (const std::exception& error) {
    last_error = error.what();
    return CUDNN_STATUS_INTERNAL_ERROR;
  }
}

GraphDescriptor& descriptor_of(cudnnBackendDescriptor_t handle) {
  demand(handle != nullptr, "there is no descriptor", CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
  return **static_cast<DescriptorHandle*>(handle);
}

/// Attributes that are descriptors are put into those that the caller made for them.
void hand_out(const Graph& graph, int engine, cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t into) {
  GraphDescriptor& made = descriptor_of(into);
  demand(made.type() == type, "an attribute is asked for into a descriptor of another type");
  made.stand_for(graph, engine);
}

/// How many values the attribute has; those for which there is room are written.
std::int64_t get(const GraphDescriptor& of, cudnnBackendAttributeName_t name,
                 cudnnBackendAttributeType_t type, std::int64_t room, void* values) {
  const Graph& graph = of.as<Graph>();
  const auto is = [&](cudnnBackendDescriptorType_t owner, cudnnBackendAttributeName_t attribute,
                      cudnnBackendAttributeType_t attribute_type) {
    return of.type() == owner && name == attribute && type == attribute_type;
  };
  if (is(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR)) {
    for (int i = 0; i < std::min<std::int64_t>(room, proposed_algorithms()); ++i) {
      hand_out(graph, i, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, static_cast<cudnnBackendDescriptor_t*>(values)[i]);
    }
    return proposed_algorithms();
  }
  if (is(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR)) {
    if (room > 0) hand_out(graph, of.engine(), CUDNN_BACKEND_ENGINE_DESCRIPTOR, *static_cast<cudnnBackendDescriptor_t*>(values));
    return 1;
  }
  if (is(CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE)) {
    return 0;
  }
  demand(
      is(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64),
      "a descriptor has no such attribute");
  if (room > 0) *static_cast<std::int64_t*>(values) = kWorkspaceBytes;
  return 1;
}

/// A start of a graph, with the memory of its tensors and the numbers that are read at once.
class Start {
 public:
  Start(Graph graph, const VariantPack& pack) : graph_(std::move(graph)), workspace_(pack.workspace) {
    demand(workspace_ != nullptr, "the workspace is missing", CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
    for (std::size_t i = 0; i < pack.ids.size(); ++i) add(pack.ids[i], pack.memory[i]);
    for (const auto& [id, tensor] : graph_->tensors) {
      demand(tensor.is_virtual || memory_.contains(id), "a tensor has no memory");
    }
  }
  void run() const {
    spoil_workspace();
    cuda_on_host::run(graph_->operations, memory_, values_);
    spoil_workspace();
  }

 private:
  void add(std::int64_t id, void* memory) {
    const auto tensor = graph_->tensors.find(id);
    demand(tensor != graph_->tensors.end() && !tensor->second.is_virtual, "a variant pack names no tensor");
    demand(memory != nullptr, "a tensor's memory is missing", CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
    if (tensor->second.is_by_value) values_[id] = tensor->second.read(memory);
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    demand(tensor->second.is_by_value || address % tensor->second.alignment == 0,
           "a tensor's memory is not aligned as it was said", CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
    constexpr std::uintptr_t kAlignment = 16;  // engines on an H200 fail elsewhere, also where less was said
    demand(tensor->second.is_by_value || address % kAlignment == 0, "misaligned address", CUDNN_STATUS_EXECUTION_FAILED);
    memory_[id] = memory;
  }
  void spoil_workspace() const {
    std::fill_n(static_cast<unsigned char*>(workspace_), kWorkspaceBytes, 0xff);
  }

  Graph graph_;
  void* workspace_;
  std::map<std::int64_t, void*> memory_;
  std::map<std::int64_t, Values> values_;
};

}  // namespace
}  // namespace ddbench::cuda_on_host

using namespace ddbench::cuda_on_host;

extern "C" {

std::size_t cudnnGetVersion() {
  return CUDNN_VERSION;
}

const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (status / 1000) {
    case 0: return "CUDNN_STATUS_SUCCESS";
    case 2: return "CUDNN_STATUS_BAD_PARAM";
    case 3: return "CUDNN_STATUS_NOT_SUPPORTED";
    case 5: return "CUDNN_STATUS_EXECUTION_FAILED";
    default: return "CUDNN_STATUS_INTERNAL_ERROR";
  }
}

void cudnnGetLastErrorString(char* message, std::size_t room) {
  if (room > 0) std::snprintf(message, room, "%s", last_error.c_str());
  last_error.clear();
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  return guarded([&] { *handle = new cudnnContext; });
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* descriptor) {
  return guarded([&] { *descriptor = new DescriptorHandle(std::make_shared<GraphDescriptor>(type)); });
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete static_cast<DescriptorHandle*>(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  return guarded([&] { descriptor_of(descriptor).finalize(); });
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count,
                                       const void* values) {
  return guarded([&] { descriptor_of(descriptor).set(name, type, count, values); });
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor,
                                       cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                       std::int64_t room, std::int64_t* count, void* values) {
  return guarded([&] {
    const std::int64_t found =
        get(descriptor_of(descriptor), name, type, values == nullptr ? 0 : room, values);
    if (count != nullptr) *count = found;
  });
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  return guarded([&] {
    const GraphDescriptor& of = descriptor_of(plan);
    demand(of.type() == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, "what is run is no plan");
    const Graph& graph = of.as<Graph>();
    demand(handle != nullptr && graph->handle == handle, "a plan is run with another handle than its own");
    const Start start(graph, descriptor_of(pack).as<VariantPack>());
    count_work(CountedWork::kGraphs);
    if (of.engine() == kFastAlgorithm) count_work(CountedWork::kFastGraphs);
    using std::chrono::steady_clock;
    const cudaError_t status = enqueue(
        handle->stream, [start, lasts = slowness_of(of.engine()), ends = std::optional<steady_clock::time_point>()]() mutable {
          if (!ends) {
            start.run();
            ends = steady_clock::now() + lasts;
          }
          return steady_clock::now() >= *ends;
        });
    demand(status == cudaSuccess, "the work was not queued", CUDNN_STATUS_EXECUTION_FAILED);
  });
}

}  // extern "C"
