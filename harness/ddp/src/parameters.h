#pragma once

#include <string>
#include <vector>

#include "ddbench/device/device.h"
#include "ddbench/workload/model.h"

namespace ddbench::ddp {

/// The memory of a model's parameters: one piece, in the order of registration, each parameter on a cache
/// line of its own.
class ParameterMemory {
 public:
  ParameterMemory(const std::vector<workload::ParameterSpec>& specs, device::Device& device);

  const std::vector<device::Tensor>& tensors() const noexcept { return tensors_; }
  /// All of it, for collectives.
  std::span<float> floats() const noexcept;

 private:
  device::Buffer memory_;
  std::vector<device::Tensor> tensors_;
};

/// Of all parameters' bits, in order: 16 hexadecimal digits. Equal bits give equal hashes; host memory.
std::string hash_of(const std::vector<workload::Parameter>& parameters);

}  // namespace ddbench::ddp
