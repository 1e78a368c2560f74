#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "core/run_case/run_case.h"
#include "harness/launch/supervisor/supervised_rank.h"

namespace ddbench::launch {

/// All ranks of a run, in their order. Single-threaded; references to ranks stay valid.
class SupervisedRanks {
 public:
  /// `sockets`: the launcher's ends of the control sockets, by rank; none where the ranks connect themselves.
  SupervisedRanks(const RunCase& run_case, std::vector<UniqueFd> sockets);

  auto begin() noexcept { return ranks_.begin(); }
  auto end() noexcept { return ranks_.end(); }
  auto begin() const noexcept { return ranks_.begin(); }
  auto end() const noexcept { return ranks_.end(); }
  std::size_t size() const noexcept { return ranks_.size(); }
  SupervisedRank& operator[](std::size_t rank) { return ranks_[rank]; }

  /// Whether every rank is in this phase or a later one.
  bool all_reached(SupervisedRank::Phase phase) const;
  /// Sends a message to every connected rank.
  void post(const Message& message);
  /// The living ranks that have joined and have not delivered their result.
  std::vector<RankView> views() const;
  /// Moves the last signs of all ranks forward, by a time in which the launcher itself did not run.
  void forgive(std::chrono::nanoseconds absence);
  /// The rank that has completed most steps.
  const SupervisedRank& furthest() const;

 private:
  std::deque<SupervisedRank> ranks_;
};

}  // namespace ddbench::launch
