#pragma once

#include <string>
#include <vector>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::test {

/// A run of which only the step times are known, and that all steps have: what a table needs.
struct StoredRun {
  RunCase run_case;
  double step_ms = 100;
  double exposed_ms = 0;  ///< of the step; the rest is backward
  std::string network;
  std::string sweep_id = "sweep";
  ProvenanceSet provenance{Provenance::kMeasured};
  std::vector<store::CollectiveRecord> collectives;
  std::vector<store::KernelRecord> kernels;
  store::RunState state = store::RunState::kDone;
  std::string reason;
  std::map<std::string, std::string> facts;
};

StoredRun run_of(const RunCase& run_case, double step_ms);
RunCase sized(int nodes, int gpus_per_node);
/// With the same global batch at any size.
RunCase strong(int nodes, int gpus_per_node, std::int64_t global_batch);

/// Ids count up, and so do the starts.
store::RunId add_run(store::RunStore& store, const StoredRun& run);

}  // namespace ddbench::test
