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

struct AdamStep {
  AdamSettings settings;
  float keep;
  float step;
  float root;

  AdamStep(const AdamSettings& of, float lr)
      : settings(of), keep(1.0F - lr * of.weight_decay), step(lr / of.correction1), root(1.0F / std::sqrt(of.correction2)) {}
  __device__ void operator()(float& w, float g, float& first, float& second) const {
    first = settings.beta1 * first + (1.0F - settings.beta1) * g;
    second = settings.beta2 * second + (1.0F - settings.beta2) * g * g;
    w = w * keep - step * first / (sqrtf(second) * root + settings.epsilon);
  }
};

/// A block a piece.
__global__ void adamw_pieces(const AdamPiece* pieces, AdamStep step) {
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
    for (int i = 0; i < kPack; ++i) step(w[i], g[i], first[i], second[i]);
    store_pack(piece.parameter, pack * kPack, w);
    store_pack(piece.m, pack * kPack, first);
    store_pack(piece.v, pack * kPack, second);
  }
  for (std::int64_t i = packs * kPack + threadIdx.x; i < piece.elements; i += blockDim.x) {
    step(piece.parameter[i], piece.gradient[i], piece.m[i], piece.v[i]);
  }
}

}  // namespace

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
  const AdamPiece all{elements_of<float>(parameter), elements_of<float>(gradient), elements_of<float>(m),
                      elements_of<float>(v), parameter.elements()};
  const AdamStep step(settings, lr);
  each(stream, all.elements, [=] __device__(std::int64_t i) {
    step(all.parameter[i], all.gradient[i], all.m[i], all.v[i]);
  });
}

void adamw_each(cudaStream_t stream, const AdamPiece* pieces, std::int64_t count, const AdamSettings& settings, float lr) {
  if (count > 0) launch(stream, static_cast<unsigned>(count), kThreads, adamw_pieces, pieces, AdamStep(settings, lr));
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

void add_squares(cudaStream_t stream, const Tensor& values, double* partials, double* sum) {
  const std::int64_t wanted = (values.elements() + kThreads - 1) / kThreads;
  const int blocks = static_cast<int>(wanted < kSquareBlocks ? wanted : kSquareBlocks);
  launch(stream, blocks, kThreads, square_partials, elements_of<float>(values), values.elements(), partials);
  launch(stream, 1, kThreads, add_partials, partials, blocks, sum);
}

}  // namespace ddbench::device::cuda
