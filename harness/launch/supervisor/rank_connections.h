#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "core/unique_handle.h"
#include "harness/launch/supervisor/supervised_ranks.h"

namespace ddbench::launch {

/// The connections of all ranks in one epoll: the cost of a wait grows with the ranks that send, not with all. Single-threaded.
class RankConnections {
 public:
  explicit RankConnections(SupervisedRanks& ranks);

  /// Sends what is pending, then waits for input from a rank or on one of `others` (file descriptors), at most for `timeout`.
  /// Returns the ranks whose connection has input or has ended.
  std::vector<SupervisedRank*> wait(std::span<const int> others, std::chrono::milliseconds timeout);

 private:
  void update(SupervisedRank& rank);

  SupervisedRanks& ranks_;
  UniqueFd epoll_;
};

}  // namespace ddbench::launch
