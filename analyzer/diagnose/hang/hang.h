#pragma once

#include <string>
#include <vector>

#include "analyzer/diagnose/hang/flight.h"

namespace ddbench::analyzer {

struct MissingRank {
  int rank = 0;
  std::string why;  ///< "did not come to nccl:all_reduce #17 of group 41 (TENSOR_MODEL_PARALLEL_GROUP), in which rank 3 waits"
  friend bool operator==(const MissingRank&, const MissingRank&) = default;
};

/// Why collectives did not go on.
struct Hang {
  std::vector<MissingRank> missing;  ///< ascending
  /// Operations that all ranks of the group entered and none left: "nccl:all_reduce #17 of group 0
  /// (default_pg), ranks 0-7".
  std::vector<std::string> entered_by_all;
  std::size_t waiting = 0;  ///< ranks with an operation that was not done
  int world_size = 0;       ///< one more than the highest rank that is named
};

/// A rank is in its oldest incomplete operation. In a collective it waits for the ranks of the group that did
/// not enqueue it, else for those that are in an older operation; in a send or receive (of a batch: in each) for its peer, unless
/// the peer is in it, too. Missing ranks are those for which others wait, directly or indirectly, and which
/// wait for no rank: they enqueue nothing more, or are in a collective that others of the group have
/// completed, or left no dump. All dumps must be of one job.
Hang find_hang(const std::vector<FlightDump>& dumps);

}  // namespace ddbench::analyzer
