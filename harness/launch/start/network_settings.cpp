#include "harness/launch/start/network_settings.h"

namespace ddbench::launch {

std::map<std::string, std::string> network_settings(NetworkRequest requested) {
  if (requested == NetworkRequest::kInfiniBand) return {{"NCCL_IB_DISABLE", "0"}, {"NCCL_NET", "IB"}};
  if (requested == NetworkRequest::kEthernet) return {{"NCCL_IB_DISABLE", "1"}, {"NCCL_NET", "Socket"}};
  return {};
}

}  // namespace ddbench::launch
