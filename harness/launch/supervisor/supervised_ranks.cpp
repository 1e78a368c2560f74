#include "harness/launch/supervisor/supervised_ranks.h"

#include <algorithm>
#include <utility>

namespace ddbench::launch {

SupervisedRanks::SupervisedRanks(const RunCase& run_case, std::vector<UniqueFd> sockets) {
  sockets.resize(static_cast<std::size_t>(run_case.world_size()));
  for (int rank = 0; rank < run_case.world_size(); ++rank) {
    ranks_.emplace_back(rank, rank % run_case.gpus_per_node, rank / run_case.gpus_per_node,
                        std::move(sockets[static_cast<std::size_t>(rank)]));
  }
}

bool SupervisedRanks::all_reached(SupervisedRank::Phase phase) const {
  return std::all_of(begin(), end(), [&](const SupervisedRank& rank) { return rank.phase >= phase; });
}

void SupervisedRanks::post(const Message& message) {
  for (SupervisedRank& rank : ranks_) rank.post(message);
}

std::vector<RankView> SupervisedRanks::views() const {
  std::vector<RankView> views;
  for (const SupervisedRank& rank : ranks_) {
    const bool watched =
        rank.phase == SupervisedRank::Phase::kJoined || rank.phase == SupervisedRank::Phase::kTraining;
    if (rank.alive && watched) views.push_back(rank.view());
  }
  return views;
}

void SupervisedRanks::forgive(std::chrono::nanoseconds absence) {
  for (SupervisedRank& rank : ranks_) {
    rank.last_heard += absence;
    rank.last_progress += absence;
  }
}

const SupervisedRank& SupervisedRanks::furthest() const {
  return *std::max_element(begin(), end(), [](const SupervisedRank& a, const SupervisedRank& b) {
    return a.heartbeat.steps_completed < b.heartbeat.steps_completed;
  });
}

}  // namespace ddbench::launch
