#pragma once

#include <map>
#include <string>

#include "core/run_case/run_case.h"

namespace ddbench::launch {

/// Environment variables that make NCCL use the requested network, for each rank. Gloo uses the interface that ddbench names.
std::map<std::string, std::string> network_settings(NetworkRequest requested);

}  // namespace ddbench::launch
