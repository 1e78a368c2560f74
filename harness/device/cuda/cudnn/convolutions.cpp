#include "harness/device/cuda/cudnn/convolutions.h"

#include <fmt/format.h>

#include <optional>

#include "core/error.h"
#include "harness/device/cuda/kernels/kernels.h"

namespace ddbench::device::cuda {
namespace {

constexpr std::int64_t kX = 1;
constexpr std::int64_t kWeight = 2;
constexpr std::int64_t kY = 3;
constexpr std::int64_t kMostAlignment = 16;  // no engine requires more

/// The power of two, up to kMostAlignment, that all addresses are multiples of.
std::int64_t alignment_of(const void* x, const void* weight, const void* y) {
  const auto bits = reinterpret_cast<std::uintptr_t>(x) | reinterpret_cast<std::uintptr_t>(weight) |
                    reinterpret_cast<std::uintptr_t>(y);
  std::int64_t alignment = kMostAlignment;
  while (bits % static_cast<std::uintptr_t>(alignment) != 0) alignment /= 2;
  return alignment;
}

bool is_aligned(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % kMostAlignment == 0;
}

/// [n, c, h, w] that lies as n, h, w, c: images, and weights with n and c their outputs and inputs.
Descriptor nhwc(std::int64_t id, cudnnDataType_t type, std::int64_t n, std::int64_t c, std::int64_t h,
                std::int64_t w, std::int64_t alignment) {
  return tensor_descriptor(id, type, {n, c, h, w}, {h * w * c, 1, w * c, c}, alignment);
}

Descriptor convolution_of(const Window& window) {
  Descriptor convolution(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const cudnnDataType_t sums = CUDNN_DATA_FLOAT;
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  using Pair = std::vector<std::int64_t>;
  convolution.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, Pair{2});
  convolution.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &sums);
  convolution.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
  convolution.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, Pair{window.padding, window.padding});
  convolution.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, Pair{window.padding, window.padding});
  convolution.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, Pair{1, 1});
  convolution.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, Pair{window.stride, window.stride});
  convolution.finalize("describe a convolution");
  return convolution;
}

/// The names that cuDNN has for the parts of one pass.
struct PassNames {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t convolution, x, weight, y, alpha, beta;
};
constexpr PassNames kNames[] = {
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
};

}  // namespace

struct Convolutions::Operation {
  Descriptor convolution;
  Descriptor x;
  Descriptor weight;
  Descriptor y;
  Descriptor operation;
  std::optional<Execution> execution;
};

Convolutions::Convolutions(cudaStream_t stream, cudnnHandle_t cudnn, bool tf32, Scratch& scratch, MemoryLedger& ledger)
    : tf32_(tf32), stream_(stream), cudnn_(cudnn), trial_(stream), scratch_(scratch), workspace_(stream, ledger), wide_(stream, ledger) {}

Convolutions::~Convolutions() = default;

std::string Convolutions::text_of(const ConvolutionShape& s, Pass pass) {
  constexpr const char* kPasses[] = {"forward pass", "input gradient", "weight gradient"};
  return fmt::format(
      "the {} of a convolution of {} {} images of {} x {} x {} with {} windows of {}, stride {}, padding {}",
      kPasses[static_cast<std::size_t>(pass)], s.window.batch, name_of(s.type), s.window.height,
      s.window.width, s.in, s.out, s.window.kernel, s.window.stride, s.window.padding);
}

std::unique_ptr<Convolutions::Operation> Convolutions::describe(const Key& key) {
  const ConvolutionShape& s = key.shape;
  const Window& w = s.window;
  const PassNames& names = kNames[static_cast<std::size_t>(key.pass)];
  const cudnnDataType_t type = cudnn_type(s.type);
  auto made = std::unique_ptr<Operation>(
      new Operation{convolution_of(w),
                    nhwc(kX, type, w.batch, s.in, w.height, w.width, key.alignment),
                    nhwc(kWeight, type, s.out, s.in, w.kernel, w.kernel, key.alignment),
                    nhwc(kY, type, w.batch, s.out, w.out_height(), w.out_width(), key.alignment),
                    Descriptor(names.type),
                    {}});
  const float one = 1.0F;
  const float zero = 0.0F;
  made->operation.set(names.convolution, made->convolution);
  made->operation.set(names.x, made->x);
  made->operation.set(names.weight, made->weight);
  made->operation.set(names.y, made->y);
  made->operation.set(names.alpha, CUDNN_TYPE_FLOAT, 1, &one);
  made->operation.set(names.beta, CUDNN_TYPE_FLOAT, 1, &zero);
  made->operation.finalize("describe a convolution's pass");
  return made;
}

Convolutions::Operation& Convolutions::operation_of(const Key& key) {
  const auto found = operations_.find(key);
  if (found != operations_.end()) return *found->second;
  std::unique_ptr<Operation> made = describe(key);
  const bool is_float = key.shape.type == DataType::kFloat32;
  made->execution.emplace(cudnn_, std::span(&made->operation, 1),
                          EngineRules{.tensor_cores = !is_float || tf32_}, trial_.most_algorithms());
  if (is_float && !made->execution->has_engine()) {
    throw Error(ErrorCode::kRunFailed, "cuDNN has no engine for " + text_of(key.shape, key.pass), 0,
                "choose an engine");
  }
  return *operations_.emplace(key, std::move(made)).first->second;
}

void Convolutions::run(Pass pass, const ConvolutionShape& shape, void* x, void* weight, void* y) {
  Execution& execution = *operation_of({pass, shape, alignment_of(x, weight, y)}).execution;
  if (!execution.has_engine()) return run_in_float(pass, shape, x, weight, y);
  const std::vector<std::int64_t> ids = {kX, kWeight, kY};
  const std::vector<void*> memory = {x, weight, y};
  if (execution.has_several()) execution.keep_fastest(trial_, stream_, ids, memory);
  execution.run(ids, memory, workspace_.bytes(execution.workspace_bytes()));
}

// Not every number of channels has an engine in 16 bits.
void Convolutions::run_in_float(Pass pass, const ConvolutionShape& shape, void* x, void* weight, void* y) {
  const Window& w = shape.window;
  const std::int64_t sizes[] = {w.in_rows() * shape.in, shape.out * w.kernel * w.kernel * shape.in,
                                w.out_rows() * shape.out};
  const auto wide = wide_.pieces({sizes[0] * 4, sizes[1] * 4, sizes[2] * 4});
  void* const narrow[] = {x, weight, y};
  constexpr std::size_t kResults[] = {2, 0, 1};  // of each pass
  const std::size_t result = kResults[static_cast<std::size_t>(pass)];
  const auto tensor = [&](void* data, std::size_t which, DataType type) {
    return Tensor{data, 1, sizes[which], type};
  };
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (i == result) continue;
    convert(stream_, tensor(narrow[i], i, shape.type), 1.0F, GradientWrite::kOverwrite,
            tensor(wide[i], i, DataType::kFloat32));
  }
  ConvolutionShape in_float = shape;
  in_float.type = DataType::kFloat32;
  run(pass, in_float, wide[0], wide[1], wide[2]);
  convert(stream_, tensor(wide[result], result, DataType::kFloat32), 1.0F, GradientWrite::kOverwrite,
          tensor(narrow[result], result, shape.type));
}

// cuDNN is told the alignment of each tensor, and 9.x has engines for float32 that ignore it (seen on an H200: "misaligned address").
// Parameters and gradients lie one behind the other, behind a bias of any length.
void* Convolutions::aligned_weight(const ConvolutionShape& shape, void* weight) {
  if (is_aligned(weight)) return weight;
  const std::int64_t weights = shape.out * shape.window.kernel * shape.window.kernel * shape.in;
  void* const copy = scratch_.bytes(weights * size_of(shape.type));
  convert(stream_, {weight, 1, weights, shape.type}, 1.0F, GradientWrite::kOverwrite, {copy, 1, weights, shape.type});
  return copy;
}

void Convolutions::forward(const ConvolutionShape& shape, void* x, void* weight, void* y) {
  run(Pass::kForward, shape, x, aligned_weight(shape, weight), y);
}

void Convolutions::backward_input(const ConvolutionShape& shape, void* dy, void* weight, void* dx) {
  run(Pass::kBackwardInput, shape, dx, aligned_weight(shape, weight), dy);
}

// cuDNN writes the gradient in the type of the images, and its engines need not be able to add, or to write where it begins: it
// goes through scratch, from where it is added, widened or moved.
void Convolutions::backward_weight(const ConvolutionShape& shape, void* x, void* dy, GradientWrite write,
                                   void* dweight) {
  if (shape.type == DataType::kFloat32 && write == GradientWrite::kOverwrite && is_aligned(dweight)) {
    return run(Pass::kBackwardWeight, shape, x, dweight, dy);
  }
  const std::int64_t weights = shape.out * shape.window.kernel * shape.window.kernel * shape.in;
  void* const result = scratch_.bytes(weights * size_of(shape.type));
  run(Pass::kBackwardWeight, shape, x, result, dy);
  convert(stream_, {result, 1, weights, shape.type}, 1.0F, write, {dweight, 1, weights, DataType::kFloat32});
}

}  // namespace ddbench::device::cuda
