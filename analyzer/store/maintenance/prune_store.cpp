#include <fmt/format.h>

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

void check_run(const Database& database, const RunId& id, const std::function<void(const RunRecord&)>& check) {
  const auto leave_out = [](const UnreadableRun&) {};
  for (const RunRecord& run : select_runs(database, "id = ?", {id}, 1, leave_out)) check(run);
}

}  // namespace

PruneResult prune_store(const std::filesystem::path& file, std::span<const RunId> ids, PruneWhat what,
                        const std::function<void(const RunRecord&)>& check) {
  // A typing error in the name must not make a store.
  open_store(file, OpenMode::kReadOnly, builtin_migrations());
  const Database database = open_store(file, OpenMode::kReadWrite, builtin_migrations());
  PruneResult result;
  result.bytes_before = size_of(file) + size_of(file.string() + "-wal");
  {
    Transaction transaction(database);
    Statement find = database.prepare("SELECT run_key FROM run WHERE id = ?");
    Statement remove =
        database.prepare(what == PruneWhat::kRuns ? "DELETE FROM run WHERE run_key = ?"
                                                  : "DELETE FROM span_chunk WHERE run_key = ?");
    for (const RunId& id : ids) {
      if (check) check_run(database, id, check);
      if (!find.bind(id).step()) {
        throw Error(ErrorCode::kBadInput,
                    fmt::format("there is no run \"{}\" in the store {}", id, file.string()), 0,
                    file.string());
      }
      remove.bind(find.integer(0)).run();
      find.reset();
    }
    transaction.commit();
  }
  database.execute_when_free("VACUUM");
  database.execute_when_free("PRAGMA wal_checkpoint(TRUNCATE)");
  result.bytes_after = size_of(file) + size_of(file.string() + "-wal");
  return result;
}

}  // namespace ddbench::store
