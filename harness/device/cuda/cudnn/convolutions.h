#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "harness/device/cuda/cudnn/cudnn_graph.h"
#include "harness/device/cuda/kernels/scratch.h"
#include "harness/device/device.h"
#include "harness/device/gpu/gpu.h"

namespace ddbench::device::cuda {

struct ConvolutionShape {
  Window window;
  std::int64_t in = 0;   ///< channels
  std::int64_t out = 0;  ///< channels
  DataType type = DataType::kFloat32;
  friend auto operator<=>(const ConvolutionShape&, const ConvolutionShape&) = default;
};

/// Convolutions of NHWC images with OHWI weights by cuDNN. The engine for a shape is chosen once and kept: of
/// several that cuDNN proposes, the first call outside of a capture times each and keeps the fastest (gpu::Trial).
class Convolutions {
 public:
  /// Without `tf32`, float32 is computed as such, not on tensor cores.
  Convolutions(cudaStream_t stream, cudnnHandle_t cudnn, bool tf32, Scratch& scratch, MemoryLedger& ledger);
  ~Convolutions();

  void forward(const ConvolutionShape& shape, void* x, void* weight, void* y);
  void backward_input(const ConvolutionShape& shape, void* dy, void* weight, void* dx);
  /// `dweight` is float32, whatever the type of the shape.
  void backward_weight(const ConvolutionShape& shape, void* x, void* dy, GradientWrite write, void* dweight);

 private:
  enum class Pass : std::uint8_t { kForward, kBackwardInput, kBackwardWeight };
  struct Key {
    Pass pass;
    ConvolutionShape shape;
    std::int64_t alignment;  ///< of all three
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Operation;
  Operation& operation_of(const Key& key);
  /// x, weight and y, or their gradients, all of the shape's type.
  void run(Pass pass, const ConvolutionShape& shape, void* x, void* weight, void* y);
  /// The weight, or a copy of it in scratch that begins at a multiple of 16 bytes.
  void* aligned_weight(const ConvolutionShape& shape, void* weight);
  void run_in_float(Pass pass, const ConvolutionShape& shape, void* x, void* weight, void* y);
  static std::string text_of(const ConvolutionShape& shape, Pass pass);
  static std::unique_ptr<Operation> describe(const Key& key);

  const bool tf32_;
  cudaStream_t stream_;
  cudnnHandle_t cudnn_;
  const gpu::Trial trial_;
  Scratch& scratch_;
  Scratch workspace_;
  Scratch wide_;  // float32 copies for operations that have no engine in 16 bits
  std::map<Key, std::unique_ptr<Operation>> operations_;
};

}  // namespace ddbench::device::cuda
