#include "harness/experiment/run/network.h"

#include <algorithm>

#include "core/error.h"

namespace ddbench::experiment {
namespace {

bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return text.rfind(beginning, 0) == 0; });
}

}  // namespace

std::string proved_network(std::string_view launched, std::string_view transport) {
  // One rank talks to nobody: what was set up for it is all there is to say.
  if (transport.empty() || transport == "none") return std::string(launched);
  if (begins_with_any(transport, {"ibverbs", "NET/IB"})) {
    return transport.find("(RoCE)") == std::string_view::npos ? "infiniband" : "roce";
  }
  if (!begins_with_any(transport, {"tcp", "NET/Socket"})) return {};
  return launched.empty() ? "socket" : std::string(launched);
}

void check_network(const RunCase& run_case, const host::Machine& machine) {
  if (run_case.requested_network != NetworkRequest::kInfiniBand) return;
  const bool has_port = std::any_of(machine.infiniband.begin(), machine.infiniband.end(),
                                    [](const auto& port) { return port.link_layer == "InfiniBand"; });
  if (!has_port) {
    throw Error(ErrorCode::kEnvironment,
                "--network ib: this machine has no InfiniBand port (ddbench doctor shows what it has)", 0,
                "network");
  }
  if (run_case.backend == "gloo") {
    throw Error(
        ErrorCode::kEnvironment,
        "--network ib: the gloo backend of this build talks TCP, so that nothing would go over InfiniBand", 0,
        "network");
  }
}

}  // namespace ddbench::experiment
