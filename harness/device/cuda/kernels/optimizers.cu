// What optimizers do with parameters: vectors of float32.
#include <cmath>

#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/cuda/kernels/number.cuh"
#include "harness/device/cuda/kernels/packs.cuh"

namespace ddbench::device::cuda {
namespace {

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

__device__ inline void take(const AdamStep& adam, float& w, float g, float& first, float& second) {
  const AdamSettings& settings = adam.settings;
  first = settings.beta1 * first + (1.0F - settings.beta1) * g;
  second = settings.beta2 * second + (1.0F - settings.beta2) * g * g;
  w = w * adam.keep - adam.step * first / (sqrtf(second) * adam.root + settings.epsilon);
}

/// Vectors that are changed together, element by element.
template <int kVectors>
struct Vectors {
  float* at[kVectors];
};

/// step(x) with x[v] the elements of each vector, of which those in `kWritten` (bit v) are stored.
template <int kVectors, unsigned kWritten, typename Step>
__global__ void update_kernel(std::int64_t packs, std::int64_t n, Vectors<kVectors> vectors, Step step) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t thread = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  for (std::int64_t pack = thread; pack < packs; pack += stride) {
    float values[kVectors][kPack];
    for (int v = 0; v < kVectors; ++v) load_pack(static_cast<const float*>(vectors.at[v]), pack * kPack, values[v]);
    DDBENCH_UNROLL
    for (int i = 0; i < kPack; ++i) {
      float x[kVectors];
      for (int v = 0; v < kVectors; ++v) x[v] = values[v][i];
      step(x);
      for (int v = 0; v < kVectors; ++v) values[v][i] = x[v];
    }
    for (int v = 0; v < kVectors; ++v) {
      if ((kWritten >> v & 1U) != 0) store_pack(vectors.at[v], pack * kPack, values[v]);
    }
  }
  for (std::int64_t i = packs * kPack + thread; i < n; i += stride) {
    float x[kVectors];
    for (int v = 0; v < kVectors; ++v) x[v] = vectors.at[v][i];
    step(x);
    for (int v = 0; v < kVectors; ++v) {
      if ((kWritten >> v & 1U) != 0) vectors.at[v][i] = x[v];
    }
  }
}

template <unsigned kWritten, typename Step, typename... Tensors>
void update(cudaStream_t stream, Step step, const Tensor& first, const Tensors&... others) {
  constexpr int kVectors = 1 + sizeof...(others);
  const Vectors<kVectors> vectors{{elements_of<float>(first), elements_of<float>(others)...}};
  const std::int64_t n = first.elements();
  const std::int64_t packs = are_packs(elements_of<float>(first), elements_of<float>(others)...) ? n / kPack : 0;
  launch(stream, blocks_for(packs > 0 ? packs : n), kThreads, update_kernel<kVectors, kWritten, Step>, packs, n, vectors, step);
}

/// A block a piece.
__global__ void adamw_pieces(const AdamPiece* pieces, AdamStep given, const AdamStep* later) {
  const AdamStep step = later != nullptr ? *later : given;
  const AdamPiece piece = pieces[blockIdx.x];
  const bool aligned = (reinterpret_cast<std::uintptr_t>(piece.parameter) | reinterpret_cast<std::uintptr_t>(piece.gradient) |
                        reinterpret_cast<std::uintptr_t>(piece.m) | reinterpret_cast<std::uintptr_t>(piece.v)) % kPackAlignment == 0;
  const std::int64_t packs = aligned ? piece.elements / kPack : 0;
  for (std::int64_t pack = threadIdx.x; pack < packs; pack += blockDim.x) {
    float w[kPack];
    float g[kPack];
    float first[kPack];
    float second[kPack];
    load_pack(static_cast<const float*>(piece.parameter), pack * kPack, w);
    load_pack(piece.gradient, pack * kPack, g);
    load_pack(static_cast<const float*>(piece.m), pack * kPack, first);
    load_pack(static_cast<const float*>(piece.v), pack * kPack, second);
    DDBENCH_UNROLL
    for (int i = 0; i < kPack; ++i) take(step, w[i], g[i], first[i], second[i]);
    store_pack(piece.parameter, pack * kPack, w);
    store_pack(piece.m, pack * kPack, first);
    store_pack(piece.v, pack * kPack, second);
  }
  for (std::int64_t i = packs * kPack + threadIdx.x; i < piece.elements; i += blockDim.x) {
    take(step, piece.parameter[i], piece.gradient[i], piece.m[i], piece.v[i]);
  }
}

}  // namespace

void sgd(cudaStream_t stream, const Tensor& parameter, const Tensor& gradient, const Tensor& velocity,
         const SgdSettings& settings) {
  const auto step = [=] __device__(float (&x)[3]) {
    const float decayed = x[1] + settings.weight_decay * x[0];
    x[2] = settings.momentum * x[2] + settings.trust_ratio * decayed;
    x[0] -= settings.lr * x[2];
  };
  update<0b101>(stream, step, parameter, gradient, velocity);
}

void adamw(cudaStream_t stream, const Tensor& parameter, const Tensor& gradient, const Tensor& m,
           const Tensor& v, const AdamSettings& settings, float lr) {
  const AdamStep adam(settings, lr);
  update<0b1101>(stream, [=] __device__(float (&x)[4]) { take(adam, x[0], x[1], x[2], x[3]); }, parameter, gradient, m, v);
}

void adamw_each(cudaStream_t stream, const AdamPiece* pieces, std::int64_t count, const AdamStep& step, const AdamStep* later) {
  if (count > 0) launch(stream, static_cast<unsigned>(count), kThreads, adamw_pieces, pieces, step, later);
}

void lamb_direction(cudaStream_t stream, const Tensor& parameter, const Tensor& gradient, const Tensor& m,
                    const Tensor& v, const AdamSettings& settings) {
  const float scale1 = 1.0F / settings.correction1;
  const float root = 1.0F / std::sqrt(settings.correction2);
  const auto step = [=] __device__(float (&x)[4]) {
    x[2] = settings.beta1 * x[2] + (1.0F - settings.beta1) * x[1];
    x[3] = settings.beta2 * x[3] + (1.0F - settings.beta2) * x[1] * x[1];
    const float direction = x[2] * scale1 / (sqrtf(x[3]) * root + settings.epsilon);
    x[1] = direction + settings.weight_decay * x[0];
  };
  update<0b1110>(stream, step, parameter, gradient, m, v);
}

void add_squares(cudaStream_t stream, const Tensor& values, double* partials, double* sum) {
  const std::int64_t wanted = (values.elements() + kThreads - 1) / kThreads;
  const int blocks = static_cast<int>(wanted < kSquareBlocks ? wanted : kSquareBlocks);
  launch(stream, blocks, kThreads, square_partials, elements_of<float>(values), values.elements(), partials);
  launch(stream, 1, kThreads, add_partials, partials, blocks, sum);
}

}  // namespace ddbench::device::cuda
