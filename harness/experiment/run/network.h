#pragma once

#include <string>
#include <string_view>

#include "core/run_case/run_case.h"
#include "probes/machine/machine.h"

namespace ddbench::experiment {

/// Environment::network: what the transport that the ranks reported proves. `launched` is what the launcher
/// set up
/// ("loopback", "veth@1gbit", or empty where it found the network as it was), `transport` as of
/// Communicator::transport. TCP within the launcher's own network is that network, any other TCP is "socket",
/// InfiniBand verbs are "infiniband", or "roce" where NCCL says that they go over Ethernet; empty for what
/// proves nothing, whatever was asked for.
std::string proved_network(std::string_view launched, std::string_view transport);

/// Throws Error{kEnvironment} when the case asks for a network that this machine or backend does not have.
void check_network(const RunCase& run_case, const host::Machine& machine);

}  // namespace ddbench::experiment
