#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/unique_handle.h"
#include "harness/launch/local/fabric.h"

namespace ddbench::launch {

/// The network of a run's nodes, made inside the caller's network namespace. It ends with the processes in
/// it.
class NodeNetwork {
 public:
  using Facts = std::map<std::string, std::string>;

  NodeNetwork(const FabricPlan& plan, Isolation isolation) : plan_(plan), isolation_(isolation) {}

  /// Creates the network and returns the settings read back. Throws Error{kEnvironment} when a part is
  /// refused, or when a link does not have the requested rate.
  Facts set_up();

  /// What the nodes' links have carried so far.
  Facts read_statistics();

  /// Where the ranks of a node live; -1: in the caller's.
  int namespace_of(int node) const noexcept;

 private:
  void join_nodes();
  void shape_links();
  void prove_rates(const std::string& ports) const;
  void prove_rate(const std::string& qdiscs, LinkRate asked, std::size_t links) const;

  const FabricPlan& plan_;
  Isolation isolation_;
  std::vector<UniqueFd> nodes_;
};

}  // namespace ddbench::launch
