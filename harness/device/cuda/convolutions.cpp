#include "convolutions.h"

#include <cudnn.h>
#include <fmt/format.h>

#include <optional>

#include "kernels.h"

namespace ddbench::device::cuda {
namespace {

constexpr std::int64_t kX = 1;
constexpr std::int64_t kWeight = 2;
constexpr std::int64_t kY = 3;
constexpr std::int64_t kMostAlignment = 16;  // no engine asks for more

/// The power of two, up to kMostAlignment, that all addresses are multiples of.
std::int64_t alignment_of(const void* x, const void* weight, const void* y) {
  const auto bits = reinterpret_cast<std::uintptr_t>(x) | reinterpret_cast<std::uintptr_t>(weight) |
                    reinterpret_cast<std::uintptr_t>(y);
  std::int64_t alignment = kMostAlignment;
  while (bits % static_cast<std::uintptr_t>(alignment) != 0) alignment /= 2;
  return alignment;
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

std::string text_of(const ConvolutionShape& s, const char* pass) {
  return fmt::format(
      "the {} of a convolution of {} {} images of {} x {} x {} with {} windows of {}, stride {}, "
      "padding {}",
      pass, s.window.batch, s.type == DataType::kBfloat16 ? "bfloat16" : "float32", s.window.height,
      s.window.width, s.in, s.out, s.window.kernel, s.window.stride, s.window.padding);
}

}  // namespace

struct Convolutions::Operation {
  Descriptor convolution;
  Descriptor x;
  Descriptor weight;
  Descriptor y;
  Descriptor operation;
  std::optional<Execution> execution;
};

Convolutions::Convolutions(cudaStream_t stream, bool tf32, Scratch& scratch)
    : tf32_(tf32), stream_(stream), scratch_(scratch) {
  cudnnHandle_t handle = nullptr;
  check(cudnnCreate(&handle), "start");
  handle_.reset(handle);
  check(cudnnSetStream(handle, stream), "use a stream");
}

Convolutions::~Convolutions() = default;

std::unique_ptr<Convolutions::Operation> Convolutions::describe(const Key& key) {
  const ConvolutionShape& s = key.shape;
  const Window& w = s.window;
  const PassNames& names = kNames[static_cast<std::size_t>(key.pass)];
  const cudnnDataType_t type = s.type == DataType::kBfloat16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
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
  constexpr const char* kPasses[] = {"forward pass", "input gradient", "weight gradient"};
  std::unique_ptr<Operation> made = describe(key);
  made->execution.emplace(handle_.get(), made->operation,
                          EngineRules{.tensor_cores = key.shape.type != DataType::kFloat32 || tf32_},
                          text_of(key.shape, kPasses[static_cast<std::size_t>(key.pass)]));
  return *operations_.emplace(key, std::move(made)).first->second;
}

void Convolutions::run(Operation& operation, void* x, void* weight, void* y, void* workspace) {
  operation.execution->run({kX, kWeight, kY}, {x, weight, y}, workspace);
}

void Convolutions::forward(const ConvolutionShape& shape, void* x, void* weight, void* y) {
  Operation& operation = operation_of({Pass::kForward, shape, alignment_of(x, weight, y)});
  run(operation, x, weight, y, scratch_.bytes(operation.execution->workspace_bytes()));
}

void Convolutions::backward_input(const ConvolutionShape& shape, void* dy, void* weight, void* dx) {
  Operation& operation = operation_of({Pass::kBackwardInput, shape, alignment_of(dx, weight, dy)});
  run(operation, dx, weight, dy, scratch_.bytes(operation.execution->workspace_bytes()));
}

// cuDNN writes the gradient in the type of the images, and its engines need not be able to add: it goes
// through scratch, from where it is added or widened.
void Convolutions::backward_weight(const ConvolutionShape& shape, void* x, void* dy, GradientWrite write,
                                   void* dweight) {
  const std::int64_t weights = shape.out * shape.window.kernel * shape.window.kernel * shape.in;
  const bool direct = shape.type == DataType::kFloat32 && write == GradientWrite::kOverwrite;
  Operation& operation =
      operation_of({Pass::kBackwardWeight, shape, alignment_of(x, direct ? dweight : nullptr, dy)});
  const auto [workspace, result] =
      scratch_.pieces({operation.execution->workspace_bytes(), direct ? 0 : weights * size_of(shape.type)});
  run(operation, x, direct ? dweight : result, dy, workspace);
  if (direct) return;
  convert(stream_, {result, 1, weights, shape.type}, 1.0F, write, {dweight, 1, weights, DataType::kFloat32});
}

}  // namespace ddbench::device::cuda
