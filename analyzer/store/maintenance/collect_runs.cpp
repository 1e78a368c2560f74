#include "analyzer/store/maintenance/collect_runs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/maintenance/run_copy.h"
#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/sqlite/open_store.h"
#include "analyzer/store/sqlite/row_insertion.h"
#include "core/clock.h"
#include "core/error.h"

namespace ddbench::store {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

std::set<RunId> ids_of(const fs::path& file, const char* sql) {
  std::set<RunId> ids;
  if (!is_there(file)) return ids;
  const Database database = open_store(file, OpenMode::kReadOnly, builtin_migrations());
  Statement rows = database.prepare(sql);
  RunId id;
  while (rows.step()) {
    rows.read(id);
    ids.insert(id);
  }
  return ids;
}

void require_sound(const fs::path& arrived, const std::string& source) {
  const CheckResult result = check_store(arrived);
  if (result.problems.empty()) return;
  throw Error(
      ErrorCode::kBadInput,
      fmt::format(
          "what {} has is damaged, and nothing of it was taken: {}{}", source, result.problems.front(),
          result.problems.size() > 1 ? fmt::format(" (and {} more)", result.problems.size() - 1) : ""),
      0, source);
}

bool is_running(const Database& source, const RunKeyOf& run) {
  Statement state = source.prepare("SELECT state = 'running' FROM run WHERE run_key = ?");
  return state.bind(run.key).step() && state.integer(0) != 0;
}

/// Copies those runs in `arrived` that the target does not know.
std::vector<RunId> copy_unknown(const Database& target, const fs::path& arrived,
                                const CollectedSource& source) {
  const Database opened = open_source(arrived, target.file());
  Merge merge(opened, target);
  Statement collected = target.prepare("SELECT 1 FROM collected_run WHERE run_id = ?");
  const RowInsertion note("INSERT", "collected_run", {"run_id", "source", "collected_wall_ns"});
  std::vector<RunId> added;
  for (const RunKeyOf& run : runs_of(opened)) {
    Transaction transaction(target);
    const bool was_collected = collected.bind(run.id).step();
    collected.reset();
    if (was_collected || merge.is_in_target(run.id) || is_running(opened, run)) continue;
    merge.insert(run);
    note.insert_row(target, run.id, source.name, wall_ns());
    transaction.commit();
    added.push_back(run.id);
  }
  return added;
}

}  // namespace

std::set<RunId> known_runs(const fs::path& file) {
  return ids_of(file, "SELECT id FROM run UNION SELECT run_id FROM collected_run");
}

std::vector<CollectedRun> collected_runs(const fs::path& file) {
  std::vector<CollectedRun> runs;
  if (!is_there(file)) return runs;
  const Database database = open_store(file, OpenMode::kReadOnly, builtin_migrations());
  Statement rows = database.prepare(
      "SELECT id, source, min(started_wall_ns, collected_wall_ns) AS wall_ns FROM collected_run JOIN run ON run.id = run_id "
      "ORDER BY wall_ns DESC, id");
  while (rows.step()) {
    CollectedRun& run = runs.emplace_back();
    rows.read(run.id, run.source, run.wall_ns);
  }
  return runs;
}

std::string state_of_files(const fs::path& store) {
  std::string state;
  for (const char* suffix : {"", "-wal", "-journal"}) {
    struct stat info {};
    if (::stat((store.string() + suffix).c_str(), &info) != 0) continue;
    state += fmt::format("{}{} {} {}.{:09}", state.empty() ? "" : ", ", info.st_ino, info.st_size,
                         info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  }
  return state;
}

std::string collected_state(const fs::path& file, const std::string& source) {
  if (!is_there(file)) return {};
  const Database database = open_store(file, OpenMode::kReadOnly, builtin_migrations());
  Statement row = database.prepare("SELECT state FROM collected_source WHERE source = ?");
  std::string state;
  if (row.bind(source).step()) row.read(state);
  return state;
}

std::vector<RunId> collect_runs(const fs::path& target_file, const fs::path& arrived,
                                const CollectedSource& source) {
  if (!arrived.empty()) require_sound(arrived, source.name);
  const Database target = open_store(target_file, OpenMode::kReadWrite, builtin_migrations());
  std::vector<RunId> added;
  if (!arrived.empty()) added = copy_unknown(target, arrived, source);
  if (source.state.empty()) return added;
  Transaction transaction(target);
  RowInsertion("INSERT OR REPLACE", "collected_source", {"source", "state"}).insert_row(target, source.name, source.state);
  transaction.commit();
  return added;
}

}  // namespace ddbench::store
