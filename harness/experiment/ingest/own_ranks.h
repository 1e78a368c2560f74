#pragma once

#include <string>
#include <vector>

#include "core/run_case/records.h"
#include "core/run_case/run_case.h"

namespace ddbench::experiment {

struct ProcessRecording;

/// The world that the processes of a program report, in addition to the run's case.
struct OwnRanks {
  /// Ranks that the program started on each node by itself, though it was started as one rank: recorded as with
  /// --per-node. 0: it did not.
  int per_node = 0;
  /// Why the run is not valid for the program, which started ranks that were not recorded as such; empty
  /// otherwise.
  std::string invalid;
};

/// Tells by the places that processes report (core/world_place.h) whether the program started its own ranks (torchrun,
/// torch.multiprocessing, mpirun), and where all of them were seen gives each process its own rank. Does nothing for
/// a case with --per-node, which says so.
OwnRanks find_own_ranks(const RunCase& run_case, std::vector<ProcessRecording>& processes);

/// The case and the ranks of a run whose program started `per_node` ranks on each node, as if --per-node had
/// been given.
void take_own_ranks(int per_node, RunCase& run_case, std::vector<store::RankRecord>& ranks);

}  // namespace ddbench::experiment
