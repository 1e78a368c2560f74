#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harness/launch/machine/machines.h"
#include "harness/launch/supervisor/supervisor.h"

namespace ddbench::launch {

/// Ranks of one kernel take its cores in turn, whichever node they are of.
int Supervisor::core_slot(const SupervisedRank& rank) const {
  const auto before = ranks_.begin() + rank.record.rank;
  if (!processes_.remote()) return rank.record.rank;
  return static_cast<int>(std::count_if(ranks_.begin(), before, [&](const SupervisedRank& other) {
    return other.hello.boot_id == rank.hello.boot_id;
  }));
}

void Supervisor::assign(SupervisedRank& rank) {
  Assignment assignment;
  assignment.run_case = run_case_;
  assignment.rank = rank.record.rank;
  assignment.local_rank = rank.record.local_rank;
  assignment.node = rank.record.node;
  assignment.world_size = static_cast<int>(ranks_.size());
  assignment.address = processes_.address_of(rank.hello, rank.record.node);
  assignment.core_slot = core_slot(rank);
  if (!processes_.remote()) {
    assignment.spool = (options_.run_directory / fmt::format("rank{}.spool", rank.record.rank)).string();
  }
  assignment.reduce_spans = options_.reduce_spans;
  assignment.checkpoint_directory = options_.checkpoints.directory.string();
  assignment.resume_from = options_.checkpoints.resume_from.string();
  assignment.run_id = options_.run_id;
  assignment.follows_clock = !rank.record.clock.shared_clock;
  rank.post(assignment);
}

/// What the ranks said of where they are, in place of what the launcher's own machine is.
void Supervisor::describe_machines() {
  std::vector<RankMachine> told;
  std::map<std::string, std::size_t> ranks;  // by kernel
  for (const SupervisedRank& rank : ranks_) {
    if (rank.hello.boot_id.empty()) return;  // it never came: nothing is known
    ++ranks[rank.hello.boot_id];
    told.push_back({rank.hello.boot_id, rank.hello.cores, rank.inventory.facts});
  }
  ProvenanceSet provenance{Provenance::kMeasured};
  if (ranks.size() < static_cast<std::size_t>(run_case_.nodes)) {
    provenance.add(Provenance::kEmulatedNetwork);
    outcome_.notes.push_back(fmt::format("{} nodes are {} machine{}: their network is that machine's own",
                                         run_case_.nodes, ranks.size(), ranks.size() == 1 ? "" : "s"));
  }
  auto cores = cores_by_kernel(told);
  for (const auto& [kernel, count] : ranks) {
    if (count > cores[kernel].size()) provenance.add(Provenance::kOversubscribed);
  }
  outcome_.provenance = provenance;
  outcome_.machines = machines_of(told);
  std::string difference = difference_of(outcome_.machines);
  if (!difference.empty()) outcome_.notes.push_back(std::move(difference));
}

/// Of nodes that are one machine the first one that told does: all count the same. Where they are containers,
/// the interfaces and GPUs that only the others see are not told.
void Supervisor::take_counts() {
  std::set<std::string> told;  // by kernel
  for (SupervisedRank& rank : ranks_) {
    if (!rank.counted || !told.insert(rank.hello.boot_id).second) continue;
    outcome_.counted.push_back(std::move(*rank.counted));
  }
}

std::string Supervisor::why_not_started() const {
  const std::string time = describe_time(options_.start_deadline);
  for (const SupervisedRank& rank : ranks_) {
    if (rank.phase == SupervisedRank::Phase::kStarted) {
      return fmt::format("{} did not report within {} of its start{}", rank.name(), time,
                         processes_.trouble());
    }
  }
  const auto missing = std::find_if(ranks_.begin(), ranks_.end(), [](const SupervisedRank& rank) {
    return rank.phase < SupervisedRank::Phase::kTraining;
  });
  return fmt::format("{} was not connected to its peers within {}", missing->name(), time);
}

}  // namespace ddbench::launch
