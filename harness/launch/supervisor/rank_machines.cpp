#include "harness/launch/supervisor/rank_machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/launch/machine/machine_inventory.h"

namespace ddbench::launch {

int core_slot_on_machine(const SupervisedRanks& ranks, const SupervisedRank& rank) {
  return static_cast<int>(
      std::count_if(ranks.begin(), ranks.begin() + rank.record.rank,
                    [&](const SupervisedRank& other) {
                      return other.hello.boot_id == rank.hello.boot_id && other.hello.cores == rank.hello.cores;
                    }));
}

void describe_machines(const RunCase& run_case, const SupervisedRanks& ranks, LaunchOutcome& outcome) {
  std::vector<RankMachine> reported;
  std::map<std::string, std::size_t> ranks_by_kernel;
  for (const SupervisedRank& rank : ranks) {
    if (rank.hello.boot_id.empty()) return;
    ++ranks_by_kernel[rank.hello.boot_id];
    reported.push_back({rank.hello.boot_id, rank.hello.cores, rank.inventory.facts});
  }
  const std::size_t machines = ranks_by_kernel.size();
  ProvenanceSet provenance{Provenance::kMeasured};
  if (machines < static_cast<std::size_t>(run_case.nodes)) {
    provenance.add(Provenance::kEmulatedNetwork);
    outcome.notes.push_back(fmt::format("{} nodes are {} machine{}: their network is that machine's own", run_case.nodes, machines,
                                        machines == 1 ? "" : "s"));
  }
  auto cores = cores_by_kernel(reported);
  for (const auto& [kernel, count] : ranks_by_kernel) {
    if (count > cores[kernel].size()) provenance.add(Provenance::kOversubscribed);
  }
  outcome.provenance = provenance;
  outcome.machines = machines_of(reported);
  std::string difference = difference_of(outcome.machines);
  if (!difference.empty()) outcome.notes.push_back(std::move(difference));
}

void take_counts(SupervisedRanks& ranks, LaunchOutcome& outcome) {
  std::set<std::string> counted;  // by kernel
  for (SupervisedRank& rank : ranks) {
    if (!rank.counted || !counted.insert(rank.hello.boot_id).second) continue;
    outcome.counted.push_back(std::move(*rank.counted));
  }
}

}  // namespace ddbench::launch
