#include <algorithm>
#include <utility>

#include "harness/device/cuda/cuda_device.h"
#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/expect.h"

namespace ddbench::device::cuda {

void CudaDevice::scale(const Tensor& values, float factor) {
  expect("scale", {{"values", values, values.rows, values.columns}});
  cuda::scale(stream_.get(), values, factor);
}

void CudaDevice::sgd(const Tensor& parameter, const Tensor& gradient, const Tensor& velocity,
                     const SgdSettings& settings) {
  expect_alike("sgd", {{"parameter", parameter}, {"gradient", gradient}, {"velocity", velocity}});
  cuda::sgd(stream_.get(), parameter, gradient, velocity, settings);
}

void CudaDevice::adamw(const Tensor& parameter, const Tensor& gradient, const Tensor& m, const Tensor& v,
                       const AdamSettings& settings, float lr) {
  expect_alike("adamw", {{"parameter", parameter}, {"gradient", gradient}, {"m", m}, {"v", v}});
  cuda::adamw(stream_.get(), parameter, gradient, m, v, settings, lr);
}

void CudaDevice::adamw_each(std::span<const AdamTensors> tensors, const AdamSettings& settings, float lr) {
  std::vector<AdamPiece> pieces;
  for (const AdamTensors& one : tensors) {
    expect_alike("adamw", {{"parameter", one.parameter}, {"gradient", one.gradient}, {"m", one.m}, {"v", one.v}});
    const auto at = [](const Tensor& tensor, std::int64_t first) { return static_cast<float*>(tensor.data) + first; };
    for (std::int64_t first = 0; first < one.parameter.elements(); first += kAdamPiece) {
      pieces.push_back({at(one.parameter, first), at(one.gradient, first), at(one.m, first), at(one.v, first),
                        std::min(kAdamPiece, one.parameter.elements() - first)});
    }
  }
  if (pieces.empty()) return;
  AdamTable& table = adam_tables_[pieces.front().parameter];
  if (table.pieces != pieces) {  // once, as a rule
    const auto bytes = static_cast<std::int64_t>(pieces.size() * sizeof(AdamPiece));
    synchronize();  // what is queued may read the old one
    table.memory = allocate(bytes, MemoryUse::kWorkspace);
    table.pieces = std::move(pieces);
    gpu::check(cudaMemcpyAsync(table.memory.data(), table.pieces.data(), static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice,
                               stream_.get()),
               "copy from the host");
    synchronize();
  }
  cuda::adamw_each(stream_.get(), static_cast<const AdamPiece*>(table.memory.data()),
                   static_cast<std::int64_t>(table.pieces.size()), AdamStep(settings, lr),
                   capture_.active() ? static_cast<const AdamStep*>(adam_step_.data()) : nullptr);
}

void CudaDevice::set_adamw(const AdamSettings& settings, float lr) {
  const AdamStep step(settings, lr);
  gpu::check(cudaMemcpyAsync(adam_step_.data(), &step, sizeof step, cudaMemcpyHostToDevice, stream_.get()), "copy from the host");
}

void CudaDevice::lamb_direction(const Tensor& parameter, const Tensor& gradient, const Tensor& m,
                                const Tensor& v, const AdamSettings& settings) {
  expect_alike("lamb_direction", {{"parameter", parameter}, {"gradient", gradient}, {"m", m}, {"v", v}});
  cuda::lamb_direction(stream_.get(), parameter, gradient, m, v, settings);
}

void CudaDevice::add_scaled(const Tensor& source, float factor, const Tensor& destination) {
  expect_alike("add_scaled", {{"source", source}, {"destination", destination}});
  cuda::add_scaled(stream_.get(), source, factor, destination);
}

void CudaDevice::add_squared_norm(const Tensor& values) {
  expect_alike("squared_norm", {{"values", values}});
  auto* const sum = static_cast<double*>(squares_.data());
  add_squares(stream_.get(), values, sum + 1, sum);
}

double CudaDevice::take_squared_norm() {
  double sum = 0;
  gpu::check(cudaMemcpyAsync(&sum, squares_.data(), sizeof sum, cudaMemcpyDeviceToHost, stream_.get()),
             "copy to the host");
  gpu::check(cudaMemsetAsync(squares_.data(), 0, sizeof sum, stream_.get()), "clear memory");
  synchronize();
  return sum;
}

void CudaDevice::narrow(const Tensor& source, float factor, const Tensor& destination) {
  expect_alike("narrow", {{"source", source}, {"destination", destination, true}});
  convert(stream_.get(), source, factor, GradientWrite::kOverwrite, destination);
}

void CudaDevice::widen(const Tensor& source, const Tensor& destination) {
  expect_alike("widen", {{"source", source, true}, {"destination", destination}});
  convert(stream_.get(), source, 1.0F, GradientWrite::kOverwrite, destination);
}

}  // namespace ddbench::device::cuda
