#include "harness/experiment/recover/recover_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/finalize/finalize.h"
#include "analyzer/store/rows/abandoned.h"
#include "analyzer/store/rows/run_id.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "core/files/temporary_directory.h"
#include "core/run_case/program_case.h"
#include "harness/experiment/ingest/kept_run.h"
#include "harness/experiment/ingest/launch_notes.h"
#include "harness/experiment/ingest/program_ingest.h"
#include "harness/experiment/ingest/program_output.h"
#include "harness/experiment/ingest/span_ingest.h"
#include "harness/experiment/run/checkpoint_folder.h"
#include "harness/experiment/run/goodput.h"
#include "harness/experiment/run/run_folders.h"

namespace ddbench::experiment {
namespace {

namespace fs = std::filesystem;

/// A program's spools are stored as a whole, so that what an earlier attempt stored goes first.
void take_program(store::RunStore& store, store::RunRecord& run, const fs::path& directory) {
  store.delete_spans(run.id);
  try {
    ProgramRecording recording = ingest_program(store, run, directory);
    for (const auto& [key, value] : recording.facts) run.environment.facts[key] = value;
    if (recording.own_ranks.per_node > 0) {
      std::vector<store::RankRecord> ranks = store.ranks(run.id);
      take_own_ranks(recording.own_ranks.per_node, run.run_case, ranks);
      store.put_ranks(run.id, ranks);
    }
    if (!recording.own_ranks.invalid.empty()) {
      run.valid = false;
      run.invalid_reason = recording.own_ranks.invalid;
    }
    add_notes(recording.notes, run.environment.facts);
    if (!recording.transport.empty())
      set_fact(run.environment.facts, fact_key<"transport">, recording.transport);
  } catch (const Error& error) {
    if (error.where() == store.file().string()) throw;
    add_notes({error.message()}, run.environment.facts);  // a file that is no spool
  }
  ProgramOutput(run.run_case, directory).keep(store.file(), run.id);
}

void take_spools(store::RunStore& store, store::RunRecord& run, const fs::path& directory) {
  if (is_program(run.run_case)) return take_program(store, run, directory);
  SpanIngest ingest(store, run.id, directory, run.run_case.world_size());
  ingest.skip_stored();
  ingest.drain();
  add_notes(ingest.notes(), run.environment.facts);
}

/// It ended when its last step did, and not when somebody noticed.
void set_end_to_last_step(store::RunStore& store, const store::RunId& id) {
  store::RunRecord run = store.run(id).value();
  const std::int64_t end_ns = last_step_end_wall_ns(store, run);
  if (end_ns == 0) return;
  run.finished_wall_ns = std::max(run.started_wall_ns, std::min(end_ns, run.finished_wall_ns));  // the clock may have gone back
  store.update_run(run);
}

RecoveredRun complete(store::RunStore& store, store::RunRecord run, const TemporaryDirectory* directory,
                      const std::string& why_gone) {
  if (directory != nullptr) {
    if (auto kept = kept_run(directory->path(), run.id)) {
      run = std::move(kept->run);
      store.put_ranks(run.id, kept->ranks);
    }
    take_spools(store, run, directory->path());
  }
  const bool was_killed = run.state == store::RunState::kRunning;
  if (was_killed) {
    if (why_gone.empty()) store::close_abandoned(run);
    if (run.state == store::RunState::kRunning) {
      run.state = store::RunState::kInterrupted;
      run.reason = why_gone;
    }
    run.finished_wall_ns = wall_ns();
  }
  store.update_run(run);
  analyzer::finalize_run(store, run.id);
  if (was_killed) set_end_to_last_step(store, run.id);
  if (run.run_case.checkpoint_every > 0) store_goodput(store, run.id);
  return {run.id, run.state, store.steps(run.id).size()};
}

/// Runs of this store whose directories are there, and those whose owners died.
std::set<store::RunId> candidates(const store::RunStore& store, const fs::path& root) {
  std::set<store::RunId> ids;
  for (const store::RunRecord& run : store.abandoned_runs()) ids.insert(run.id);
  if (const auto directory = OwnedDirectory::open(root)) {
    for (const std::string& name : directory->entries()) {
      if (store.run(name)) ids.insert(name);
    }
  }
  return ids;
}

}  // namespace

bool can_recover(const store::RunRecord& run) {
  if (store::is_abandoned(run)) return true;
  if (run.state == store::RunState::kRunning) return false;
  auto directory = TemporaryDirectory::adopt(temporary_root(), run.id);
  if (directory) directory->keep();
  return directory.has_value();
}

RecoveredRun recover_run(store::RunStore& store, store::RunRecord run, const std::string& why_gone) {
  const store::RunId id = run.id;
  // Whoever holds the directory puts the run in order; without one, there is nothing that two could add
  // twice.
  auto directory = TemporaryDirectory::adopt(temporary_root(), id);
  try {
    return complete(store, std::move(run), directory ? &*directory : nullptr, why_gone);
  } catch (const Error& error) {
    if (!directory) throw;
    const fs::path path = directory->path();
    directory->keep();
    throw Error(error.code(),
                fmt::format("run {} cannot be recovered: {}. What it measured stays in {}", id,
                            error.message(), path.string()),
                error.native_code(), error.where());
  } catch (...) {
    if (directory) directory->keep();
    throw;
  }
}

Recovery recover_runs(store::RunStore& store) {
  const fs::path root = temporary_root();
  for (const fs::path& removed : remove_abandoned(root, "", is_needed)) {
    if (const store::RunId id = removed.filename().string(); store::is_run_id(id) && !store.run(id)) remove_unused_checkpoints(store.file(), id);
  }
  settle_folders_aside(store.file());
  Recovery recovery;
  for (const store::RunId& id : candidates(store, root)) {
    const auto run = store.run(id);
    if (!run || !can_recover(*run)) continue;
    try {
      recovery.runs.push_back(recover_run(store, *run));
    } catch (const Error& error) {
      recovery.failures.push_back(error.message());
    }
  }
  return recovery;
}

}  // namespace ddbench::experiment
