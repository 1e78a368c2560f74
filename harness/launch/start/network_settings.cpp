#include "harness/launch/start/network_settings.h"

namespace ddbench::launch {

std::map<std::string, std::string> network_settings(const std::string& requested) {
  if (requested == "ib") return {{"NCCL_IB_DISABLE", "0"}, {"NCCL_NET", "IB"}};
  if (requested == "ethernet") return {{"NCCL_IB_DISABLE", "1"}, {"NCCL_NET", "Socket"}};
  return {};
}

}  // namespace ddbench::launch
