// One pass over memory, element by element.
#include <cmath>

#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/cuda/kernels/number.cuh"

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
  const float keep = write == GradientWrite::kAccumulate ? 1.0F : 0.0F;
  each(stream, source.elements(), [=] __device__(std::int64_t i) {
    const float value = factor * load(from, i);
    store(to, i, keep != 0.0F ? value + load(to, i) : value);
  });
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

__global__ void square_partials(const float* values, std::int64_t n, double* partials) {
  double sum = 0;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x; i < n;
       i += static_cast<std::int64_t>(gridDim.x) * kThreads) {
    sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }
  const double total = sum_of_threads(sum);
  if (threadIdx.x == 0) partials[blockIdx.x] = total;
}

__global__ void add_partials(const double* partials, int count, double* sum) {
  static_assert(kSquareBlocks <= kThreads);
  const double total = sum_of_threads(static_cast<int>(threadIdx.x) < count ? partials[threadIdx.x] : 0.0);
  if (threadIdx.x == 0) *sum += total;
}

}  // namespace

void fill(cudaStream_t stream, const Tensor& destination, float value) {
  float* const to = elements_of<float>(destination);
  each(stream, destination.elements(), [=] __device__(std::int64_t i) { to[i] = value; });
}

void scale(cudaStream_t stream, const Tensor& values, float factor) {
  float* const to = elements_of<float>(values);
  each(stream, values.elements(), [=] __device__(std::int64_t i) { to[i] *= factor; });
}

void add(cudaStream_t stream, const Tensor& x, const Tensor& y) {
  with_type(x.type, [&](auto type) {
    using T = decltype(type);
    convert<T, T>(stream, x, 1.0F, GradientWrite::kAccumulate, y);
  });
}

template <typename T>
void add_bias_to(cudaStream_t stream, const Tensor& bias, Activation activation, const Tensor& y) {
  const float* const added = elements_of<float>(bias);
  T* const out = elements_of<T>(y);
  const std::int64_t columns = y.columns;
  const bool cuts = activation == Activation::kRelu;
  each(stream, y.elements(), [=] __device__(std::int64_t i) {
    const float value = load(out, i) + (added != nullptr ? added[i % columns] : 0.0F);
    store(out, i, cuts && !(value > 0.0F) ? 0.0F : value);
  });
}

void add_bias(cudaStream_t stream, const Tensor& bias, Activation activation, const Tensor& y) {
  with_type(y.type, [&](auto type) { add_bias_to<decltype(type)>(stream, bias, activation, y); });
}

template <typename T>
void cut_off(cudaStream_t stream, const Tensor& y, const Tensor& dy) {
  const T* const out = elements_of<T>(y);
  T* const gradient = elements_of<T>(dy);
  each(stream, y.elements(), [=] __device__(std::int64_t i) {
    if (!(load(out, i) > 0.0F)) store(gradient, i, 0.0F);
  });
}

void relu_backward(cudaStream_t stream, const Tensor& y, const Tensor& dy) {
  with_type(y.type, [&](auto type) { cut_off<decltype(type)>(stream, y, dy); });
}

template <typename T>
void gelu_forward_of(cudaStream_t stream, Gelu form, const Tensor& x, const Tensor& y) {
  const T* const in = elements_of<T>(x);
  T* const out = elements_of<T>(y);
  each(stream, x.elements(), [=] __device__(std::int64_t i) { store(out, i, gelu(form, load(in, i))); });
}

void gelu_forward(cudaStream_t stream, Gelu form, const Tensor& x, const Tensor& y) {
  with_type(x.type, [&](auto type) { gelu_forward_of<decltype(type)>(stream, form, x, y); });
}

template <typename T>
void gelu_backward_of(cudaStream_t stream, Gelu form, const Tensor& x, const Tensor& dy, const Tensor& dx) {
  const T* const in = elements_of<T>(x);
  const T* const gradient = elements_of<T>(dy);
  T* const out = elements_of<T>(dx);
  each(stream, x.elements(),
       [=] __device__(std::int64_t i) { store(out, i, load(gradient, i) * gelu_slope(form, load(in, i))); });
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

void sgd(cudaStream_t stream, const Tensor& parameter, const Tensor& gradient, const Tensor& velocity,
         const SgdSettings& settings) {
  float* const w = elements_of<float>(parameter);
  const float* const g = elements_of<float>(gradient);
  float* const u = elements_of<float>(velocity);
  each(stream, parameter.elements(), [=] __device__(std::int64_t i) {
    const float decayed = g[i] + settings.weight_decay * w[i];
    u[i] = settings.momentum * u[i] + settings.trust_ratio * decayed;
    w[i] -= settings.lr * u[i];
  });
}

void adamw(cudaStream_t stream, const Tensor& parameter, const Tensor& gradient, const Tensor& m,
           const Tensor& v, const AdamSettings& settings, float lr) {
  float* const w = elements_of<float>(parameter);
  const float* const g = elements_of<float>(gradient);
  float* const first = elements_of<float>(m);
  float* const second = elements_of<float>(v);
  const float keep = 1.0F - lr * settings.weight_decay;
  const float step = lr / settings.correction1;
  const float root = 1.0F / std::sqrt(settings.correction2);
  each(stream, parameter.elements(), [=] __device__(std::int64_t i) {
    first[i] = settings.beta1 * first[i] + (1.0F - settings.beta1) * g[i];
    second[i] = settings.beta2 * second[i] + (1.0F - settings.beta2) * g[i] * g[i];
    w[i] = w[i] * keep - step * first[i] / (sqrtf(second[i]) * root + settings.epsilon);
  });
}

void lamb_direction(cudaStream_t stream, const Tensor& parameter, const Tensor& gradient, const Tensor& m,
                    const Tensor& v, const AdamSettings& settings) {
  const float* const w = elements_of<float>(parameter);
  float* const g = elements_of<float>(gradient);
  float* const first = elements_of<float>(m);
  float* const second = elements_of<float>(v);
  const float scale1 = 1.0F / settings.correction1;
  const float root = 1.0F / std::sqrt(settings.correction2);
  each(stream, parameter.elements(), [=] __device__(std::int64_t i) {
    first[i] = settings.beta1 * first[i] + (1.0F - settings.beta1) * g[i];
    second[i] = settings.beta2 * second[i] + (1.0F - settings.beta2) * g[i] * g[i];
    const float direction = first[i] * scale1 / (sqrtf(second[i]) * root + settings.epsilon);
    g[i] = direction + settings.weight_decay * w[i];
  });
}

void add_scaled(cudaStream_t stream, const Tensor& source, float factor, const Tensor& destination) {
  convert<float, float>(stream, source, factor, GradientWrite::kAccumulate, destination);
}

void add_squares(cudaStream_t stream, const Tensor& values, double* partials, double* sum) {
  const std::int64_t wanted = (values.elements() + kThreads - 1) / kThreads;
  const int blocks = static_cast<int>(wanted < kSquareBlocks ? wanted : kSquareBlocks);
  launch(stream, blocks, kThreads, square_partials, elements_of<float>(values), values.elements(), partials);
  launch(stream, 1, kThreads, add_partials, partials, blocks, sum);
}

}  // namespace ddbench::device::cuda
