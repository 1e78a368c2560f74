#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/run_case/run_case.h"
#include "harness/model/workload.h"

namespace ddbench::workload {

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
std::unique_ptr<Workload> make_workload(const RunCase& run_case);

}  // namespace ddbench::workload
