#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ddbench/device/device.h"
#include "ddbench/workload/dataset.h"
#include "ddbench/workload/model.h"

namespace ddbench::workload {

/// Floating-point operations of a layer on one sample; a multiply-add is two. Matrix products and
/// convolutions are counted, as the literature does; attention without regard to masks.
struct LayerFlops {
  std::string name;
  double forward = 0;
  double backward = 0;
  double recomputed = 0;  ///< in backward besides, to save memory: no progress of the model's
};

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
  virtual SampleShape sample() const = 0;

  /// `data` is "synthetic" or the place of the real files; throws Error{kBadInput} when these do not fit
  /// the model.
  virtual std::unique_ptr<Dataset> make_dataset(const std::string& data, std::uint64_t seed) const = 0;
  /// `parameters` as in parameters(), with memory on `device`, float32 in every precision. Interns its
  /// operators' names on `probe`.
  virtual std::unique_ptr<Model> make_model(
      device::Device& device, std::vector<Parameter> parameters, std::int64_t batch, Probe& probe,
      device::DataType precision = device::DataType::kFloat32) const = 0;

  /// Of forward and backward: what MFU counts.
  double flops_per_sample() const;
  /// With what is computed again: what HFU counts.
  double hardware_flops_per_sample() const;
};

/// Of the activations in a run of this precision: "fp32", "tf32", "bf16" or "fp16". Throws Error{kBadInput}
/// for another.
device::DataType activation_type(std::string_view precision);

using WorkloadOptions = std::map<std::string, std::string>;

struct OptionInfo {
  std::string name;
  std::string default_value;
  std::string meaning;
};

/// A workload as `ddbench list workloads` shows it.
struct WorkloadInfo {
  std::string name;
  std::string description;
  std::vector<OptionInfo> options;
  /// Takes options that are all known. Throws Error{kBadInput} naming the option, its value and what is
  /// allowed.
  std::function<std::unique_ptr<Workload>(const WorkloadOptions& options)> make;
};

/// All workloads there are.
const std::vector<WorkloadInfo>& workloads();

/// Throws Error{kBadInput} that lists what there is for an unknown workload or option.
std::unique_ptr<Workload> make_workload(std::string_view name, const WorkloadOptions& options);

std::int64_t parameter_count(const Workload& workload);
std::int64_t gradient_bytes(const Workload& workload);  ///< reduced in each step

}  // namespace ddbench::workload
