#pragma once

#include <map>
#include <string>

namespace ddbench::launch {

/// Environment variables that make NCCL use the requested network (RunCase::requested_network: "ib",
/// "ethernet" or empty), for each rank. Gloo uses the interface that ddbench names.
std::map<std::string, std::string> network_settings(const std::string& requested);

}  // namespace ddbench::launch
