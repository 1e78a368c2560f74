#pragma once

#include <cstdint>
#include <filesystem>

#include "ddbench/record/measured.h"

namespace ddbench::host {

/// The tightest limits of the control groups (versions 1 and 2, also both at once) that this process is in,
/// over all levels that can be seen. Missing means that none limits it, or that none can be seen.
struct CgroupLimits {
  Measured<double> cpu_cores;
  Measured<std::int64_t> memory_bytes;
  /// Memory left below the limit; the page cache that the kernel gives back first counts as left.
  Measured<std::int64_t> available_memory_bytes;
};

CgroupLimits read_cgroup_limits(const std::filesystem::path& root);

}  // namespace ddbench::host
