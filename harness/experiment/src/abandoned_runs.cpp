#include "ddbench/experiment/abandoned_runs.h"

#include <algorithm>

#include "ddbench/analyzer/finalize.h"
#include "ddbench/experiment/program_ingest.h"
#include "ddbench/experiment/span_ingest.h"
#include "ddbench/launch/run_directory.h"
#include "ddbench/record/clock.h"
#include "ddbench/record/error.h"
#include "ddbench/record/program_case.h"
#include "ddbench/store/abandoned.h"
#include "goodput.h"
#include "notes.h"

namespace ddbench::experiment {
namespace {

/// What the ranks had spooled and the killed launcher had not stored yet. A damaged spool costs only its own
/// rest.
void take_over_spools(store::RunStore& store, store::RunRecord& run, const launch::RunDirectory& directory) {
  try {
    if (is_program(run.run_case)) {
      const ProgramRecording recording = ingest_program(store, run, directory.path());
      for (const auto& [key, value] : recording.facts) run.environment.facts[key] = value;
      add_notes(recording.notes, run.environment.facts);
      if (!recording.transport.empty()) run.environment.facts["transport"] = recording.transport;
      return;
    }
    SpanIngest ingest(store, run.id, directory.path(), run.run_case.world_size());
    ingest.skip_stored();
    ingest.poll();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kRunFailed) throw;
  }
}

/// It ended when its last step did, and not when somebody noticed.
void set_end_to_last_step(store::RunStore& store, const store::RunId& id) {
  store::RunRecord run = *store.run(id);
  const std::int64_t end_ns = last_step_end_wall_ns(store, run);
  if (end_ns == 0) return;
  run.finished_wall_ns = std::clamp(end_ns, run.started_wall_ns, run.finished_wall_ns);
  store.update_run(run);
}

}  // namespace

std::vector<store::RunId> recover_abandoned_runs(store::RunStore& store) {
  const auto root = launch::run_directory_root();
  std::vector<store::RunId> closed;
  for (store::RunRecord& run : store.abandoned_runs()) {
    // Whoever holds the directory puts the run in order; without one, there is nothing that two could add
    // twice.
    if (const auto directory = launch::RunDirectory::adopt(root, run.id))
      take_over_spools(store, run, *directory);
    store::close_abandoned(run);
    run.finished_wall_ns = wall_ns();
    store.update_run(run);
    analyzer::finalize_run(store, run.id);
    set_end_to_last_step(store, run.id);
    closed.push_back(run.id);
  }
  launch::remove_abandoned(root);
  return closed;
}

}  // namespace ddbench::experiment
