#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/run_case/run_case.h"
#include "harness/device/device.h"
#include "harness/model/model.h"
#include "harness/training/optimizer/bucket_plan.h"

namespace ddbench::ddp {

/// The memory of a model's parameters: one piece, in the order of registration, each parameter on a cache
/// line of its own.
class ParameterMemory {
 public:
  ParameterMemory(const std::vector<workload::ParameterSpec>& specs, device::Device& device, device::MemoryUse use);
  /// The size of this memory in bytes, for parameters of these sizes in bytes.
  static std::int64_t bytes_for(std::span<const std::int64_t> parameter_bytes);

  const std::vector<device::Tensor>& tensors() const noexcept { return tensors_; }
  /// All of it, for collectives.
  device::Tensor all() const noexcept;

 private:
  device::Buffer memory_;
  std::vector<device::Tensor> tensors_;
};

/// The buckets of the case's sizes (plan_buckets).
std::vector<Bucket> plan_buckets(const RunCase& run_case, const std::vector<workload::ParameterSpec>& specs);
std::vector<std::int64_t> bytes_of(const std::vector<workload::ParameterSpec>& specs);
std::int64_t elements_of(const Bucket& bucket, const std::vector<workload::ParameterSpec>& specs);

/// Of all parameters' bits, in their order. Equal bits give equal hashes.
class ParameterHash {
 public:
  void add(std::span<const float> values);
  std::string text() const;  ///< 16 hexadecimal digits

 private:
  std::uint64_t hash_ = 0;
};

}  // namespace ddbench::ddp
