#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/measured.h"

namespace ddbench::host {

/// What fast networks and NCCL need of a machine beside a device. A check without a value says what its absence costs.
struct NetworkCheck {
  std::string what;
  Measured<std::string> value;
  std::string cost;
};

/// OFED, libibverbs, GPUDirect RDMA, SR-IOV, /dev/shm, limits of this process, NCCL's settings in this process's environment. Reads
/// /proc, /sys and /dev below `root` (tests feed fixture trees). Does not throw.
std::vector<NetworkCheck> check_network_parts(const std::filesystem::path& root = "/");

}  // namespace ddbench::host
