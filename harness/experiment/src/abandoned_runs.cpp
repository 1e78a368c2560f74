#include "ddbench/experiment/abandoned_runs.h"

#include <fmt/format.h>

#include "ddbench/analyzer/finalize.h"
#include "ddbench/launch/run_directory.h"
#include "ddbench/record/clock.h"

namespace ddbench::experiment {

std::vector<store::RunId> recover_abandoned_runs(store::RunStore& store) {
  std::vector<store::RunId> closed;
  for (store::RunRecord& run : store.abandoned_runs()) {
    run.state = store::RunState::kInterrupted;
    run.reason = fmt::format("the ddbench that ran it (pid {}) died", run.owner_pid);
    run.finished_wall_ns = wall_ns();
    store.update_run(run);
    analyzer::finalize_run(store, run.id);
    closed.push_back(run.id);
  }
  launch::remove_abandoned(launch::run_directory_root());
  return closed;
}

}  // namespace ddbench::experiment
