#pragma once

#include <filesystem>
#include <vector>

#include "probes/machine/machine.h"

namespace ddbench::host {

std::vector<NetworkInterface> read_interfaces(const std::filesystem::path& root);
std::vector<InfinibandPort> read_infiniband(const std::filesystem::path& root);
Measured<std::string> read_nvidia_driver(const std::filesystem::path& root);
std::vector<Gpu> read_nvidia_gpus(const std::filesystem::path& root);

}  // namespace ddbench::host
