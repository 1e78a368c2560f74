#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/model/workload.h"

namespace ddbench::workload {

/// The option's whole number, or `otherwise` where it is not given. Throws Error{kBadInput} naming workload,
/// option, value and what is allowed.
std::int64_t number_option(std::string_view workload, const WorkloadOptions& options, const std::string& name,
                           std::int64_t otherwise, std::int64_t least, std::int64_t most);

}  // namespace ddbench::workload
