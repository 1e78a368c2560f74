#include "harness/device/cuda/cudnn/cudnn_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"

namespace ddbench::device::cuda {
namespace {

constexpr std::int64_t kMostEngines = 32;
constexpr std::int64_t kMostWorkspaceBytes = std::int64_t{1} << 30;
constexpr std::int64_t kLittleWorkspaceBytes = std::int64_t{64} << 20;

/// The numerical notes of an engine configuration.
std::vector<cudnnBackendNumericalNote_t> notes_of(const Descriptor& configuration) {
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t handle = engine.get();
  std::int64_t count = 0;
  check(cudnnBackendGetAttribute(configuration.get(), CUDNN_ATTR_ENGINECFG_ENGINE,
                                 CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &handle),
        "ask for an engine");
  std::vector<cudnnBackendNumericalNote_t> notes(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  check(cudnnBackendGetAttribute(engine.get(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                 CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, notes.data()),
        "ask what an engine does to numbers");
  notes.resize(static_cast<std::size_t>(std::min<std::int64_t>(count, CUDNN_NUMERICAL_NOTE_TYPE_COUNT)));
  return notes;
}

bool is_allowed(const Descriptor& configuration, EngineRules rules) {
  for (const cudnnBackendNumericalNote_t note : notes_of(configuration)) {
    switch (note) {
      case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
      case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
      case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION: return false;
      case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
        if (!rules.tensor_cores) return false;
        break;
      default: break;
    }
  }
  return true;
}

}  // namespace

void check(cudnnStatus_t status, const char* what) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  std::array<char, 512> details{};
  cudnnGetLastErrorString(details.data(), details.size());
  throw Error(ErrorCode::kRunFailed,
              fmt::format("cuDNN cannot {}: {} {}", what, cudnnGetErrorString(status), details.data()),
              status, what);
}

CudnnHandle make_cudnn(cudaStream_t stream) {
  cudnnHandle_t made = nullptr;
  check(cudnnCreate(&made), "start");
  CudnnHandle handle(made);
  check(cudnnSetStream(made, stream), "use a stream");
  return handle;
}

cudnnDataType_t cudnn_type(DataType type) {
  switch (type) {
    case DataType::kBfloat16: return CUDNN_DATA_BFLOAT16;
    case DataType::kFloat16: return CUDNN_DATA_HALF;
    default: return CUDNN_DATA_FLOAT;
  }
}

Descriptor::Descriptor(cudnnBackendDescriptorType_t type) {
  cudnnBackendDescriptor_t handle = nullptr;
  check(cudnnBackendCreateDescriptor(type, &handle), "make a descriptor");
  handle_.reset(handle);
}

void Descriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
                     const void* values) {
  check(cudnnBackendSetAttribute(get(), name, type, count, values), "describe an operation");
}

Descriptor tensor_descriptor(std::int64_t id, cudnnDataType_t type,
                             const std::vector<std::int64_t>& dimensions,
                             const std::vector<std::int64_t>& strides, std::int64_t alignment,
                             TensorPlace place) {
  Descriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
  tensor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, dimensions);
  tensor.set(CUDNN_ATTR_TENSOR_STRIDES, strides);
  tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, std::vector<std::int64_t>{id});
  tensor.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::vector<std::int64_t>{alignment});
  const bool yes = true;
  if (place == TensorPlace::kHost) tensor.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &yes);
  if (place == TensorPlace::kGraph) tensor.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &yes);
  tensor.finalize("describe a tensor");
  return tensor;
}

Execution::Execution(cudnnHandle_t handle, std::span<const Descriptor> operations, EngineRules rules,
                     std::size_t most_engines)
    : handle_(handle), graph_(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) {
  std::vector<cudnnBackendDescriptor_t> handles;
  for (const Descriptor& operation : operations) handles.push_back(operation.get());
  graph_.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
             static_cast<std::int64_t>(handles.size()), handles.data());
  graph_.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle_);
  if (cudnnBackendFinalize(graph_.get()) != CUDNN_STATUS_SUCCESS) return;  // no graph that it knows
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    add_engines(mode, rules, most_engines);
    if (has_engine()) return;
  }
}

void Execution::add_engines(cudnnBackendHeurMode_t mode, EngineRules rules, std::size_t most) {
  Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph_);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  if (cudnnBackendFinalize(heuristics.get()) != CUDNN_STATUS_SUCCESS) return;  // none for this graph
  std::vector<Descriptor> configurations;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (std::int64_t i = 0; i < kMostEngines; ++i) {
    handles.push_back(configurations.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).get());
  }
  std::int64_t count = 0;
  if (cudnnBackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                               kMostEngines, &count, handles.data()) != CUDNN_STATUS_SUCCESS) {
    return;
  }
  for (std::int64_t i = 0; i < std::min(count, kMostEngines) && engines_.size() < most; ++i) {
    Descriptor& configuration = configurations[static_cast<std::size_t>(i)];
    if (is_allowed(configuration, rules)) add_engine(std::move(configuration));
  }
}

/// Heuristics also name engines that, on closer look, do not take the graph.
void Execution::add_engine(Descriptor configuration) {
  Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle_);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  if (cudnnBackendFinalize(plan.get()) != CUDNN_STATUS_SUCCESS) return;
  std::int64_t bytes = 0;
  std::int64_t count = 0;
  check(cudnnBackendGetAttribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                                 &count, &bytes),
        "ask for a workspace's size");
  if (bytes <= kMostWorkspaceBytes) engines_.push_back({std::move(plan), std::move(configuration), bytes});
}

cudnnStatus_t Execution::launch(const Engine& engine, const std::vector<std::int64_t>& ids,
                                const std::vector<void*>& memory, void* workspace) {
  Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
           static_cast<std::int64_t>(memory.size()), memory.data());
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
  pack.finalize("name the memory of an operation");
  return cudnnBackendExecute(handle_, engine.plan.get(), pack.get());
}

void Execution::run(const std::vector<std::int64_t>& ids, const std::vector<void*>& memory, void* workspace) {
  check(launch(engines_.front(), ids, memory, workspace), "run an operation");
}

void Execution::keep_fastest(const gpu::Trial& trial, cudaStream_t stream, const std::vector<std::int64_t>& ids,
                             const std::vector<void*>& memory) {
  if (!trial.is_possible()) return;
  // The pool keeps what it was once asked for: no more than the first engine wants, or little.
  const std::int64_t bytes = std::max(kLittleWorkspaceBytes, engines_.front().workspace_bytes);
  std::erase_if(engines_, [bytes](const Engine& engine) { return engine.workspace_bytes > bytes; });
  std::size_t best = 0;
  void* workspace = nullptr;
  if (cudaMallocAsync(&workspace, static_cast<std::size_t>(bytes), stream) == cudaSuccess) {
    best = trial.fastest(engines_.size(), [&](std::size_t i) {
      return launch(engines_[i], ids, memory, workspace) == CUDNN_STATUS_SUCCESS;
    });
    gpu::check(cudaFreeAsync(workspace, stream), "free a workspace");
  } else {
    cudaGetLastError();
  }
  std::vector<Engine> kept;
  kept.push_back(std::move(engines_[best]));
  engines_ = std::move(kept);
}

}  // namespace ddbench::device::cuda
