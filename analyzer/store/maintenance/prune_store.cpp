#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <string_view>
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

[[noreturn]] void refuse_needed(const RunId& id, const std::string& by) {
  throw Error(ErrorCode::kBadInput, fmt::format("run {} is needed by {} now: nothing was deleted; give the command again", id, by), 0, id);
}

/// Under the lock: another process may have named the runs since they were chosen.
void refuse_needed_runs(const Database& database, std::span<const RunId> ids) {
  const std::set<std::string_view> pruned(ids.begin(), ids.end());
  Statement baselines = database.prepare("SELECT run_id, name FROM baseline_run WHERE version = (SELECT max(version) FROM baseline AS newest "
                                         "WHERE newest.name = baseline_run.name)");
  RunId id;
  std::string by;
  while (baselines.step()) {
    baselines.read(id, by);
    if (pruned.contains(id)) refuse_needed(id, fmt::format("the baseline \"{}\"", by));
  }
  Statement runs = database.prepare("SELECT baseline_id, id FROM run WHERE baseline_id <> ''");
  while (runs.step()) {
    runs.read(id, by);
    if (pruned.contains(id) && !pruned.contains(by)) refuse_needed(id, fmt::format("run {}", by));
  }
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
    if (what == PruneWhat::kUnneededRuns) refuse_needed_runs(database, ids);
    Statement find = database.prepare("SELECT run_key FROM run WHERE id = ?");
    Statement remove =
        database.prepare(what == PruneWhat::kSpans ? "DELETE FROM span_chunk WHERE run_key = ?"
                                                   : "DELETE FROM run WHERE run_key = ?");
    for (const RunId& id : ids) {
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
