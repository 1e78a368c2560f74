#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ddbench/device/device.h"
#include "ddbench/workload/dataset.h"
#include "ddbench/workload/model.h"

namespace ddbench::workload {

/// A reference workload with its options settled: what it needs, and how to build it.
class Workload {
 public:
  virtual ~Workload() = default;
  /// In the order of registration, as PyTorch's Module.parameters() gives them.
  virtual std::vector<ParameterSpec> parameters() const = 0;
  /// Floating-point operations of forward and backward on one sample; a multiply-add is two.
  virtual double flops_per_sample() const = 0;
  virtual std::int64_t activation_bytes(std::int64_t batch) const = 0;  ///< without the batch itself
  virtual std::int64_t features() const = 0;                            ///< numbers an input sample

  /// `data` is "synthetic" or the directory of the real files; throws Error{kBadInput} when these do not fit
  /// the model.
  virtual std::unique_ptr<Dataset> make_dataset(const std::string& data, std::uint64_t seed) const = 0;
  /// `parameters` as in parameters(), with memory on `device`. Interns its operators' names on `probe`.
  virtual std::unique_ptr<Model> make_model(device::Device& device, std::vector<Parameter> parameters,
                                            std::int64_t batch, Probe& probe) const = 0;
};

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
  std::unique_ptr<Workload> (*make)(const WorkloadOptions& options);
};

/// All workloads there are.
const std::vector<WorkloadInfo>& workloads();

/// Throws Error{kBadInput} that lists what there is for an unknown workload or option.
std::unique_ptr<Workload> make_workload(std::string_view name, const WorkloadOptions& options);

std::int64_t parameter_count(const Workload& workload);
std::int64_t gradient_bytes(const Workload& workload);  ///< reduced in each step

}  // namespace ddbench::workload
