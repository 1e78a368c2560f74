#include <fmt/format.h>

#include "core/error.h"
#include "core/files/data_directory.h"
#include "harness/launch/machine/process_facts.h"
#include "harness/launch/remote/remote_launch.h"
#include "harness/launch/trust/run_token.h"
#include "harness/launch/trust/user_secret.h"

namespace ddbench::launch {
namespace {

constexpr int kTorchrunPort = 29500;

[[noreturn]] void refuse_world(const std::string& why) {
  throw Error(ErrorCode::kBadInput, "--launcher env: " + why);
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "localhost" || address == "::1";
}

/// Kubeflow gives the ranks of rank 0's own node "localhost" where it gives the others the node's name.
std::string address_of_this_node(const LauncherOptions& options) {
  if (!options.interface.empty()) return address_of_interface(options.interface);
  std::string address = "127.0.0.1";
  try {
    address = address_towards(host_name());
  } catch (const Error&) {
    // A host whose own name leads nowhere is no better off than one whose name is loopback.
  }
  if (!is_loopback(address)) return address;
  refuse_world(
      "MASTER_ADDR is loopback, which the ranks of other nodes cannot reach; set it to rank 0's host, or "
      "name "
      "the --interface that leads to them");
}

/// Empty for a user without a home directory.
std::string secret_of_this_machine() {
  std::filesystem::path directory;
  try {
    directory = data_directory();
  } catch (const Error&) {
    return {};
  }
  return user_secret(directory);
}

}  // namespace

EnvEndpoint env_endpoint(const LauncherOptions& options, const Placement& placement) {
  if (placement.master_address.empty()) {
    refuse_world("nothing says where rank 0 is; set MASTER_ADDR to its host on all ranks");
  }
  const bool has_other_nodes = placement.world_size > placement.local_world_size;
  EnvEndpoint at;
  const int master_port = placement.master_port > 0 ? placement.master_port : kTorchrunPort;
  at.endpoint = {placement.master_address, options.port > 0 ? options.port : master_port + 1};
  if (has_other_nodes && is_loopback(placement.master_address)) {
    at.endpoint.address = address_of_this_node(options);
  }
  at.credentials = {.token = take_token(), .job = placement.job};
  if (at.credentials.token.empty() && !has_other_nodes) at.credentials.token = secret_of_this_machine();
  return at;
}

RemoteJob env_job(const RunCase& run_case, const std::string& executable, const LauncherOptions& options,
                  const Placement& placement) {
  if (placement.rank != 0)
    refuse_world(fmt::format("the run is that of rank 0, and this is rank {}", placement.rank));
  if (run_case.world_size() != placement.world_size || run_case.gpus_per_node != placement.local_world_size) {
    refuse_world(fmt::format("the case is on {} nodes x {} ranks, but {} started {} ranks, {} on each node",
                             run_case.nodes, run_case.gpus_per_node, placement.source, placement.world_size,
                             placement.local_world_size));
  }
  const EnvEndpoint at = env_endpoint(options, placement);
  RemoteJob job;
  job.launcher = "env (" + placement.source + ")";
  job.command = {executable, "worker"};
  job.listen = at.endpoint;
  if (!options.interface.empty()) job.listen.address = address_of_interface(options.interface);
  // The own worker is not given the secret of the others: where there is none, it has one nevertheless.
  job.credentials = {.started = {.token = new_token(), .job = {}}, .others = at.credentials};
  return job;
}

}  // namespace ddbench::launch
