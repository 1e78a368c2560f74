#include "analyzer/import/trace/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/error.h"

namespace ddbench::imports {
namespace {

constexpr const char* kHowToSay = "--gpus-per-node states it";

/// Each rank's place among the hosts in the order of their first ranks; empty where not every rank has one.
std::vector<int> nodes_by_host(const TraceJob& job) {
  std::vector<int> nodes;
  std::map<std::string, int> hosts;
  if (static_cast<int>(job.traces.size()) != job.world_size) return nodes;
  for (const RankTrace& trace : job.traces) {
    if (trace.info.host.empty()) return {};
    nodes.push_back(hosts.try_emplace(trace.info.host, static_cast<int>(hosts.size())).first->second);
  }
  return nodes;
}

/// The GPU that a rank's kernels ran on, where that is one.
std::optional<int> device_of(const RankTrace& trace) {
  if (trace.kernels_by_device.size() != 1) return std::nullopt;
  return trace.kernels_by_device.begin()->first;
}

/// Why hosts of one name cannot be one machine; empty: they can. Ranks of a machine that see several GPUs use one each.
std::string why_name_is_shared(const TraceJob& job, const std::vector<int>& hosts) {
  std::map<std::pair<int, int>, int> users;  // of a GPU of a host: its rank
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::optional<int> device = device_of(job.traces[i]);
    if (!device || job.traces[i].info.devices < 2) continue;
    const auto [user, is_new] = users.try_emplace({hosts[i], *device}, job.ranks[i]);
    if (is_new) continue;
    return fmt::format("ranks {} and {} name the host {} and both use a GPU {}, so that several nodes may have this name", user->second,
                       job.ranks[i], job.traces[i].info.host, *device);
  }
  return {};
}

/// Equally many ranks of each node; 0 where they are not.
int ranks_of_each(const std::vector<int>& nodes) {
  std::map<int, int> counts;
  for (const int node : nodes) ++counts[node];
  const int first = counts.begin()->second;
  return std::all_of(counts.begin(), counts.end(), [&](const auto& count) { return count.second == first; }) ? first : 0;
}

/// 0: the ids of GPUs do not determine it.
int ranks_by_device(const TraceJob& job) {
  const int devices = job.traces.front().info.devices;
  if (devices < 2) return 0;
  const int per_node = std::min(devices, job.world_size);
  if (job.world_size % per_node != 0) return 0;
  // On part of a node, one rank alone could be of any node.
  if (job.world_size < devices && job.traces.size() < 2) return 0;
  for (std::size_t i = 0; i < job.traces.size(); ++i) {
    if (job.traces[i].info.devices != devices || device_of(job.traces[i]) != job.ranks[i] % per_node) return 0;
  }
  return per_node;
}

Placement by_number(const TraceJob& job, int per_node, bool is_known, std::string note) {
  Placement placement{is_known, per_node, {}, std::move(note)};
  for (const int rank : job.ranks) placement.node.push_back(rank / per_node);
  return placement;
}

Placement as_stated(const TraceJob& job, const std::vector<int>& hosts, int stated) {
  if (job.world_size % stated != 0) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("--gpus-per-node {} does not divide the {} ranks of the job", stated, job.world_size));
  }
  const std::string note = fmt::format("{} ranks a node, as --gpus-per-node states", stated);
  if (hosts.empty()) return by_number(job, stated, true, note);
  const int found = ranks_of_each(hosts);
  if (found == stated) return {true, stated, hosts, note};  // ranks need not be numbered node by node
  throw Error(ErrorCode::kBadInput,
              fmt::format("--gpus-per-node {}: the traces name hosts with {}; leave the option out", stated,
                          found == 0 ? "unequal numbers of ranks" : fmt::format("{} ranks each", found)));
}

}  // namespace

Placement find_placement(const TraceJob& job, int stated) {
  std::vector<int> hosts = nodes_by_host(job);
  const std::string shared = why_name_is_shared(job, hosts);
  if (!shared.empty()) hosts.clear();
  if (stated > 0) return as_stated(job, hosts, stated);
  if (job.world_size == 1) return by_number(job, 1, true, {});
  if (!hosts.empty()) {
    const int per_node = ranks_of_each(hosts);
    if (per_node > 0) return {true, per_node, hosts, fmt::format("{} ranks a node, by the hosts that the traces name", per_node)};
    return by_number(job, job.world_size, false,
                     "how many GPUs a node has is not known: the hosts that the traces name have unequal numbers of ranks");
  }
  if (const int per_node = ranks_by_device(job); per_node > 0) {
    return by_number(job, per_node, true,
                     fmt::format("{} ranks a node, by the ids of the GPUs that the ranks use{}{}", per_node,
                                 shared.empty() ? "" : ": ", shared));
  }
  return by_number(job, job.world_size, false,
                   fmt::format("how many GPUs a node has is not known: {}; {}",
                               shared.empty() ? "the traces do not say which ranks share one" : shared, kHowToSay));
}

}  // namespace ddbench::imports
