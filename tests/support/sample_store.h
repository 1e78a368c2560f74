#pragma once

#include <string>
#include <vector>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::test {

/// A run as a small cluster would have measured it: a DDP training of three layers with a bucket each, whose
/// compute scatters and whose all-reduces take what ring and link cost. Same options, same run.
struct SampleRun {
  store::RunId id;  ///< empty: made of `number`
  int number = 0;   ///< orders the runs in time
  RunCase run_case;
  std::string sweep_id;
  store::RunId baseline_id;
  bool is_baseline = false;
  int repetition = 0;
  double compute_ms = 20;     ///< forward and backward of one rank
  double straggler_ms = 1.2;  ///< by which the last rank is slower
};

/// Writes the run, its ranks, spans and losses, and finalizes it; returns its id.
store::RunId add_sample_run(store::RunStore& store, const SampleRun& run);

struct SampleSweep {
  std::string id = "sweep-20261121T020000-0a1b2c3d";
  std::vector<int> nodes = {1, 2, 4, 8};
  std::vector<int> gpus_per_node = {1, 2};
  std::vector<std::string> links = {"10gbit"};  ///< of cases with several nodes
  int repetitions = 1;
  int steps = 30;
  bool with_failures = true;  ///< the largest case fails once, and one run is invalid
};

/// Returns the ids of the runs, oldest first.
std::vector<store::RunId> add_sample_sweep(store::RunStore& store, const SampleSweep& sweep);

}  // namespace ddbench::test
