#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/device/device.h"
#include "harness/model/dataset.h"
#include "harness/model/model.h"

namespace ddbench::workload {

/// Floating-point operations of a layer on one sample; a multiply-add is two. Matrix products and
/// convolutions are counted, as the literature does; attention without regard to masks.
struct LayerFlops {
  std::string name;
  double forward = 0;
  double backward = 0;
  double recomputed = 0;  ///< in backward besides, to save memory: no progress of the model's
};

using WorkloadOptions = std::map<std::string, std::string>;

/// A reference workload with its options settled: what it needs, and how to build it.
class Workload {
 public:
  virtual ~Workload() = default;
  /// In the order of registration, as PyTorch's Module.parameters() gives them.
  virtual std::vector<ParameterSpec> parameters() const = 0;
  virtual std::vector<LayerFlops> layer_flops() const = 0;
  /// What a model allocates besides parameters and their gradients, and without the batch itself.
  /// `precision`: kFloat32, or kBfloat16 or kFloat16 for activations and a copy of the weights.
  virtual std::int64_t activation_bytes(std::int64_t batch,
                                        device::DataType precision = device::DataType::kFloat32) const = 0;
  /// Of that, the weights in 16 bits; 0 for kFloat32.
  virtual std::int64_t weight_copy_bytes(device::DataType precision) const = 0;
  /// Instead of that where a ParameterSource has the values: the weights of one layer.
  virtual std::int64_t weight_scratch_bytes(device::DataType precision) const = 0;
  /// The same in every precision.
  virtual ParameterUses parameter_uses() const = 0;
  virtual SampleShape sample() const = 0;

  /// `data` is "synthetic" or the place of the real files; throws Error{kBadInput} when these do not fit
  /// the model.
  virtual std::unique_ptr<Dataset> make_dataset(const std::string& data, std::uint64_t seed) const = 0;
  /// `parameters` as in parameters(), with memory on `device`, float32 in every precision. Interns its
  /// operators' names on `probe`. With a `source`, which outlives the model, values are read from it.
  virtual std::unique_ptr<Model> make_model(
      device::Device& device, std::vector<Parameter> parameters, std::int64_t batch, Probe& probe,
      device::DataType precision = device::DataType::kFloat32, ParameterSource* source = nullptr) const = 0;

  /// Of forward and backward: what MFU counts.
  double flops_per_sample() const;
  /// With what is computed again: what HFU counts.
  double hardware_flops_per_sample() const;
};

/// Of the activations in a run of this precision: "fp32", "tf32", "bf16" or "fp16". Throws Error{kBadInput}
/// for another.
device::DataType activation_type(std::string_view precision);

std::int64_t parameter_count(const Workload& workload);
std::int64_t gradient_bytes(const Workload& workload);  ///< reduced in each step

}  // namespace ddbench::workload
