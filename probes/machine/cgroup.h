#pragma once

#include <cstdint>
#include <filesystem>

#include "core/measured.h"

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

/// How long limits on CPU time have held up the groups that this process is in, summed over processors: the
/// most of any level. Missing where no level counts it.
Measured<std::int64_t> read_throttled_ns(const std::filesystem::path& root);

}  // namespace ddbench::host
