#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/predict/step_recording.h"
#include "analyzer/store/rows/run_store.h"
#include "core/measured.h"

namespace ddbench::analyzer {

/// What of the critical path somebody or something has.
struct PathShare {
  std::string name;         ///< "rank 3", "all_reduce of bucket 2", "gemm"
  int rank = -1;            ///< of operators and ranks
  double path_ns = 0;       ///< on the critical path, mean over steps
  double slack_ns = 0;      ///< how much longer it may take: smallest in a step, mean over steps; at most a step's time
  double steps_on_path = 0;  ///< share of steps in which part of it lies on the path
};

/// The critical path across ranks through the recorded steps of a run: see block_slack.h, and docs/metrics.md.
struct CriticalPath {
  std::size_t steps = 0;
  double step_ns = 0;                  ///< of the replay; the parts sum to it
  std::vector<PathShare> parts;        ///< compute, optimizer, data wait, host, start, transfer; no slack
  std::vector<PathShare> ranks;        ///< own work of each rank
  std::vector<PathShare> collectives;  ///< transfer of each, in their order
  std::vector<PathShare> operators;    ///< of each rank, the longest on the path first; at most 40
  std::vector<std::string> notes;
};

/// Of steps with their operators. Steps beyond three million events are left out, with a note.
CriticalPath critical_path(const StepRecording& recording);

/// For a stored run, from at most `most_steps` of its steps. Missing, with the reason, as recording_of().
Measured<CriticalPath> critical_path_of(const store::RunStore& store, const store::RunRecord& run,
                                        std::size_t most_steps = 32);

}  // namespace ddbench::analyzer
