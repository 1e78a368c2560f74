#pragma once

#include <string>

#include "analyzer/extrapolate/size_law.h"

namespace ddbench::analyzer {

/// What a collective needs on a shape, by the formulas of rings (Patarasuk and Yuan 2009) and of direct sends.
struct CollectiveTerms {
  double messages = 0;   ///< one after the other
  double crossings = 0;  ///< of these, how many go from one node to another
  double per_rank = 0;   ///< bytes that the busiest rank sends, for each byte of the collective (as nccl-tests count them)
  double per_node = 0;   ///< bytes that all ranks of the busiest node send to other nodes over its link, for each byte; 0 on one node
};

/// A ring over all ranks crosses between nodes in k-1 of every n-1 messages, and the rank before each crossing sends as much
/// as any other. In all_to_all each of a node's g ranks sends its parts to the n-g ranks of other nodes; in push and pull one
/// server sends everything to all others, or receives it from them, at once. These share the node's link.
CollectiveTerms collective_terms(const std::string& function, const ClusterShape& shape);

}  // namespace ddbench::analyzer
