#include "harness/experiment/run/unstored_run.h"

#include <fmt/format.h>

#include <string>

#include "core/clock.h"

namespace ddbench::experiment {
namespace {

/// Marks the run failed when its results cannot be stored (best effort).
void store_failure(store::RunStore& store, store::RunRecord run, const std::string& reason) noexcept {
  try {
    run.state = store::RunState::kFailed;
    run.reason = reason;
    run.finished_wall_ns = wall_ns();
    store.update_run(run);
  } catch (const std::exception&) {
    // The store takes nothing any more: recover_runs() closes the run.
  }
}

/// Then nobody will bring in what was measured.
bool was_deleted(const store::RunStore& store, const store::RunId& id) {
  try {
    static_cast<void>(store.find_id(id));
    return false;
  } catch (const Error& error) {
    return error.code() == ErrorCode::kBadInput;
  }
}

}  // namespace

Error keep_unstored_run(store::RunStore& store, TemporaryDirectory& directory, KeptRun kept, const Error& error) {
  if (!has_spools(directory.path()) || was_deleted(store, kept.run.id)) {
    store_failure(store, kept.run, error.message());
    store.let_go();
    return error;
  }
  const std::string path = directory.path().string();
  const std::string command =
      fmt::format("ddbench db recover {} --db {}", kept.run.id, store.file().string());
  store_failure(store, kept.run,
                fmt::format("{}. Not all that was measured is stored: `{}` completes the run",
                            error.message(), command));
  store.let_go();
  if (kept.run.state == store::RunState::kRunning) {
    kept.run.state = store::RunState::kFailed;
    kept.run.reason = error.message();
    kept.run.finished_wall_ns = wall_ns();
  }
  keep_run(directory.path(), kept);
  directory.keep();
  return Error(
      error.code(),
      fmt::format("{}\nNothing that run {} measured is lost: it is kept in {}. When the store can be written "
                  "again, bring it in with\n  {}",
                  error.message(), kept.run.id, path, command),
      error.native_code(), error.where());
}

}  // namespace ddbench::experiment
