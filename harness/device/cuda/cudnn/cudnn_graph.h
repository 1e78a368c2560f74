#pragma once

#include <cudnn_backend.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/unique_handle.h"
#include "harness/device/gpu/trial.h"
#include "harness/device/tensor.h"

/// cuDNN's graph API, as far as it is needed here: Execution runs a graph of operations, which
/// cudnn_operations.h makes of several.
namespace ddbench::device::cuda {

/// Throws Error{kRunFailed} with cuDNN's words for a status that is no success.
void check(cudnnStatus_t status, const char* what);

using CudnnHandle = UniqueHandle<cudnnContext, cudnnDestroy>;
/// A cuDNN handle for the calling thread's GPU and one of its streams.
CudnnHandle make_cudnn(cudaStream_t stream);

/// For floating-point types: float32, float16 or bfloat16.
cudnnDataType_t cudnn_type(DataType type);

struct DestroyDescriptor {
  void operator()(void* descriptor) const noexcept { cudnnBackendDestroyDescriptor(descriptor); }
};

/// A descriptor that is being filled in; finalize() ends that.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type);

  cudnnBackendDescriptor_t get() const noexcept { return handle_.get(); }
  void finalize(const char* what) { check(cudnnBackendFinalize(get()), what); }

  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
           const void* values);
  void set(cudnnBackendAttributeName_t name, const std::vector<std::int64_t>& values) {
    set(name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()), values.data());
  }
  void set(cudnnBackendAttributeName_t name, const Descriptor& other) {
    const cudnnBackendDescriptor_t handle = other.get();
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &handle);
  }

 private:
  std::unique_ptr<void, DestroyDescriptor> handle_;
};

enum class TensorPlace : std::uint8_t {
  kDevice,
  kHost,   ///< a number that is read when the graph is started
  kGraph,  ///< handed on by operations of the graph, and not in memory
};

/// A tensor that the graph reads or writes; `id` is how Execution::run() names it. Memory is aligned to
/// `alignment`.
Descriptor tensor_descriptor(std::int64_t id, cudnnDataType_t type,
                             const std::vector<std::int64_t>& dimensions,
                             const std::vector<std::int64_t>& strides, std::int64_t alignment,
                             TensorPlace place = TensorPlace::kDevice);

/// What engines may do to numbers.
struct EngineRules {
  bool tensor_cores = true;  ///< for float32 that is TF32
};

/// Engines for a graph of operations, ready to run, the best first by cuDNN's estimate. Engines whose results may differ from
/// call to call, or that round their inputs to another type, are left out.
class Execution {
 public:
  /// The operations are finalized, and outlive this, as does the handle. At most `most_engines` are kept.
  Execution(cudnnHandle_t handle, std::span<const Descriptor> operations, EngineRules rules, std::size_t most_engines = 1);

  /// Whether cuDNN has one for it; nothing else may be called when not.
  bool has_engine() const noexcept { return !engines_.empty(); }
  /// Of run().
  std::int64_t workspace_bytes() const noexcept { return engines_.front().workspace_bytes; }
  /// With the first engine.
  void run(const std::vector<std::int64_t>& ids, const std::vector<void*>& memory, void* workspace);

  bool has_several() const noexcept { return engines_.size() > 1; }
  /// Runs each engine several times, but for those that want much more workspace than the first; the fastest becomes the only
  /// one, or the first, where the GPU's memory does not hold the workspace. Does nothing within a capture.
  void keep_fastest(const gpu::Trial& trial, cudaStream_t stream, const std::vector<std::int64_t>& ids,
                    const std::vector<void*>& memory);

 private:
  struct Engine {
    Descriptor plan;
    Descriptor configuration;  ///< which the plan is made of
    std::int64_t workspace_bytes = 0;
  };
  void add_engines(cudnnBackendHeurMode_t mode, EngineRules rules, std::size_t most);
  void add_engine(Descriptor configuration);
  cudnnStatus_t launch(const Engine& engine, const std::vector<std::int64_t>& ids, const std::vector<void*>& memory,
                       void* workspace);

  cudnnHandle_t handle_;
  Descriptor graph_;
  std::vector<Engine> engines_;
};

}  // namespace ddbench::device::cuda
