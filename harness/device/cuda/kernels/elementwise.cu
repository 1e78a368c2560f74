// One pass over memory, element by element.
#include <cmath>

#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/cuda/kernels/number.cuh"
#include "harness/device/cuda/kernels/packs.cuh"

namespace ddbench::device::cuda {
namespace {

constexpr float kTanhScale = 0.7978845608028654F;  // sqrt(2/pi)
constexpr float kTanhCube = 0.044715F;
constexpr float kHalfRoot = 0.7071067811865476F;      // 1/sqrt(2)
constexpr float kDensityScale = 0.3989422804014327F;  // 1/sqrt(2 pi)

__device__ float gelu(Gelu form, float x) {
  if (form == Gelu::kErf) return 0.5F * x * (1.0F + erff(x * kHalfRoot));
  return 0.5F * x * (1.0F + tanhf(kTanhScale * (x + kTanhCube * x * x * x)));
}

__device__ float gelu_slope(Gelu form, float x) {
  if (form == Gelu::kErf) {
    return 0.5F * (1.0F + erff(x * kHalfRoot)) + x * kDensityScale * expf(-0.5F * x * x);
  }
  const float t = tanhf(kTanhScale * (x + kTanhCube * x * x * x));
  const float inner = kTanhScale * (1.0F + 3.0F * kTanhCube * x * x);
  return 0.5F * (1.0F + t) + 0.5F * x * (1.0F - t * t) * inner;
}

template <typename From, typename To>
void convert(cudaStream_t stream, const Tensor& source, float factor, GradientWrite write,
             const Tensor& destination) {
  const From* const from = elements_of<From>(source);
  To* const to = elements_of<To>(destination);
  if (write == GradientWrite::kAccumulate) {
    map(stream, source.elements(), [=] __device__(float x, float y) { return factor * x + y; }, to, from,
        static_cast<const To*>(to));
  } else {
    map(stream, source.elements(), [=] __device__(float x) { return factor * x; }, to, from);
  }
}

template <typename From>
void convert_from(cudaStream_t stream, const Tensor& source, float factor, GradientWrite write,
                  const Tensor& destination) {
  switch (destination.type) {
    case DataType::kBfloat16: return convert<From, Bfloat16>(stream, source, factor, write, destination);
    case DataType::kFloat16: return convert<From, __half>(stream, source, factor, write, destination);
    default: return convert<From, float>(stream, source, factor, write, destination);
  }
}

}  // namespace

void fill(cudaStream_t stream, const Tensor& destination, float value) {
  float* const to = elements_of<float>(destination);
  each(stream, destination.elements(), [=] __device__(std::int64_t i) { to[i] = value; });
}

void scale(cudaStream_t stream, const Tensor& values, float factor) {
  float* const to = elements_of<float>(values);
  map(stream, values.elements(), [=] __device__(float x) { return x * factor; }, to, static_cast<const float*>(to));
}

void add(cudaStream_t stream, const Tensor& x, const Tensor& y) {
  with_type(x.type, [&](auto type) {
    using T = decltype(type);
    convert<T, T>(stream, x, 1.0F, GradientWrite::kAccumulate, y);
  });
}

/// A column is found without a division of 64 bits, which takes dozens of instructions, and moved on by a pack.
template <typename T>
__global__ void add_bias_packs(std::int64_t packs, std::uint32_t columns, const float* bias, bool cuts, T* y) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t pack = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; pack < packs; pack += stride) {
    const std::int64_t first = pack * kPack;
    const std::uint32_t column = column_of(first, columns);
    float values[kPack];
    load_pack(static_cast<const T*>(y), first, values);
    DDBENCH_UNROLL
    for (int i = 0; i < kPack; ++i) {
      const float value = values[i] + (bias != nullptr ? bias[column + static_cast<std::uint32_t>(i)] : 0.0F);
      values[i] = cuts && value <= 0.0F ? 0.0F : value;
    }
    store_pack(y, first, values);
  }
}

template <typename T>
void add_bias_to(cudaStream_t stream, const Tensor& bias, Activation activation, const Tensor& y) {
  const float* const added = elements_of<float>(bias);
  T* const out = elements_of<T>(y);
  const std::int64_t columns = y.columns;
  const bool cuts = activation == Activation::kRelu;
  if (y.is_dense() && columns % kPack == 0 && are_packs(out)) {
    const std::int64_t packs = y.elements() / kPack;
    launch(stream, blocks_for(packs), kThreads, add_bias_packs<T>, packs, static_cast<std::uint32_t>(columns), added, cuts, out);
    return;
  }
  const std::int64_t padding = y.leading() - columns;
  each(stream, y.elements(), [=] __device__(std::int64_t i) {
    const std::int64_t column = column_of(i, columns);
    const std::int64_t at = padding == 0 ? i : i + (i - column) / columns * padding;
    const float value = load(out, at) + (added != nullptr ? added[column] : 0.0F);
    store(out, at, cuts && value <= 0.0F ? 0.0F : value);
  });
}

void add_bias(cudaStream_t stream, const Tensor& bias, Activation activation, const Tensor& y) {
  with_type(y.type, [&](auto type) { add_bias_to<decltype(type)>(stream, bias, activation, y); });
}

template <typename T>
void cut_off(cudaStream_t stream, const Tensor& y, const Tensor& dy) {
  const T* const out = elements_of<T>(y);
  T* const gradient = elements_of<T>(dy);
  map(stream, y.elements(), [=] __device__(float value, float slope) { return value <= 0.0F ? 0.0F : slope; }, gradient, out,
      static_cast<const T*>(gradient));
}

void relu_backward(cudaStream_t stream, const Tensor& y, const Tensor& dy) {
  with_type(y.type, [&](auto type) { cut_off<decltype(type)>(stream, y, dy); });
}

template <typename T>
void gelu_forward_of(cudaStream_t stream, Gelu form, const Tensor& x, const Tensor& y) {
  const T* const in = elements_of<T>(x);
  T* const out = elements_of<T>(y);
  map(stream, x.elements(), [=] __device__(float value) { return gelu(form, value); }, out, in);
}

void gelu_forward(cudaStream_t stream, Gelu form, const Tensor& x, const Tensor& y) {
  with_type(x.type, [&](auto type) { gelu_forward_of<decltype(type)>(stream, form, x, y); });
}

template <typename T>
void gelu_backward_of(cudaStream_t stream, Gelu form, const Tensor& x, const Tensor& dy, const Tensor& dx) {
  const T* const in = elements_of<T>(x);
  const T* const gradient = elements_of<T>(dy);
  T* const out = elements_of<T>(dx);
  map(stream, x.elements(), [=] __device__(float value, float slope) { return slope * gelu_slope(form, value); }, out, in,
      gradient);
}

void gelu_backward(cudaStream_t stream, Gelu form, const Tensor& x, const Tensor& dy, const Tensor& dx) {
  with_type(x.type, [&](auto type) { gelu_backward_of<decltype(type)>(stream, form, x, dy, dx); });
}

void convert(cudaStream_t stream, const Tensor& source, float factor, GradientWrite write,
             const Tensor& destination) {
  switch (source.type) {
    case DataType::kBfloat16: return convert_from<Bfloat16>(stream, source, factor, write, destination);
    case DataType::kFloat16: return convert_from<__half>(stream, source, factor, write, destination);
    default: return convert_from<float>(stream, source, factor, write, destination);
  }
}

void add_scaled(cudaStream_t stream, const Tensor& source, float factor, const Tensor& destination) {
  convert<float, float>(stream, source, factor, GradientWrite::kAccumulate, destination);
}

}  // namespace ddbench::device::cuda
