#include <filesystem>
#include <set>
#include <string>
#include <system_error>

#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/rows/run_row.h"
#include "analyzer/store/sqlite/open_store.h"
#include "core/error.h"

namespace ddbench::store {
namespace {

std::uintmax_t size_of(const std::filesystem::path& file) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  return error ? 0 : bytes;
}

/// Takes those out of `ids` that a named baseline (its newest version), or a run that stays, needs, and returns their number. Under
/// the lock: another process may have named them since they were chosen.
std::size_t keep_needed(const Database& database, std::set<std::string>& ids) {
  const std::size_t chosen = ids.size();
  Statement baselines = database.prepare("SELECT run_id FROM baseline_run WHERE version = (SELECT max(version) FROM baseline AS newest "
                                         "WHERE newest.name = baseline_run.name)");
  RunId needed, by;
  while (baselines.step()) {
    baselines.read(needed);
    ids.erase(needed);
  }
  for (bool changed = true; changed;) {  // a run that stays needs its own baseline
    changed = false;
    Statement runs = database.prepare("SELECT baseline_id, id FROM run WHERE baseline_id <> ''");
    while (runs.step()) {
      runs.read(needed, by);
      if (!ids.contains(by) && ids.erase(needed) > 0) changed = true;
    }
  }
  return chosen - ids.size();
}

void leave_out(const UnreadableRun& run) {
  static_cast<void>(run);
}

void check_run(const Database& database, const RunId& id, const std::function<void(const RunRecord&)>& check) {
  for (const RunRecord& run : select_runs(database, "id = ?", {id}, 1, leave_out)) check(run);
}

void put_aside(const Database& database, std::span<const RunId> found, const PruneSteps& steps) {
  RunsLeft left;
  const std::vector<RunRecord> runs = select_runs(database, "", {}, 0, [&](const UnreadableRun&) { left.all_are_readable = false; });
  left.readable = runs;
  steps.before_commit(found, left);
}

}  // namespace

PruneResult prune_store(const std::filesystem::path& file, std::span<const RunId> ids, PruneWhat what, const PruneSteps& steps,
                        PruneRoom room) {
  // A typing error in the name must not make a store.
  open_store(file, OpenMode::kReadOnly, builtin_migrations());
  const Database database = open_store(file, OpenMode::kReadWrite, builtin_migrations());
  PruneResult result;
  result.bytes_before = size_of(file) + size_of(file.string() + "-wal");
  {
    Transaction transaction(database);
    std::set<std::string> pruned(ids.begin(), ids.end());
    if (what == PruneWhat::kUnneededRuns) result.needed = keep_needed(database, pruned);
    Statement find = database.prepare("SELECT run_key FROM run WHERE id = ?");
    Statement remove =
        database.prepare(what == PruneWhat::kSpans ? "DELETE FROM span_chunk WHERE run_key = ?"
                                                   : "DELETE FROM run WHERE run_key = ?");
    for (const RunId& id : pruned) {
      if (steps.check) check_run(database, id, steps.check);
      if (find.bind(id).step()) {
        remove.bind(find.integer(0)).run();
        result.found.push_back(id);
      }
      find.reset();
    }
    if (steps.before_commit) put_aside(database, result.found, steps);
    transaction.commit();
  }
  if (steps.after_commit) steps.after_commit();
  if (room == PruneRoom::kReturned) database.execute_when_free("VACUUM");
  database.execute_when_free("PRAGMA wal_checkpoint(TRUNCATE)");
  result.bytes_after = size_of(file) + size_of(file.string() + "-wal");
  return result;
}

}  // namespace ddbench::store
