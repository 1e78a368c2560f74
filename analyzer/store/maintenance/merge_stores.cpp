#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/maintenance/run_copy.h"
#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/sqlite/open_store.h"
#include "core/error.h"

namespace ddbench::store {
namespace {

namespace fs = std::filesystem;

/// Removes a store that was made for the merge unless the merge succeeds, or another process has stored a run
/// in it meanwhile.
class NewStoreGuard {
 public:
  explicit NewStoreGuard(const fs::path& file) : file_(file) {
    std::error_code ignored;
    armed_ = !fs::exists(file, ignored);
  }
  NewStoreGuard(const NewStoreGuard&) = delete;
  NewStoreGuard& operator=(const NewStoreGuard&) = delete;
  ~NewStoreGuard() {
    if (!armed_ || holds_runs()) return;
    std::error_code ignored;
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) fs::remove(file_.string() + suffix, ignored);
  }
  void keep() noexcept { armed_ = false; }

 private:
  bool holds_runs() const noexcept try {
    return Database(file_, Access::kExisting).integer("SELECT count(*) FROM run") > 0;
  } catch (const Error&) {
    return false;
  }

  fs::path file_;
  bool armed_ = false;
};

/// All runs of the source, or those named.
std::vector<RunKeyOf> chosen_runs(const Database& source, const std::set<RunId>* wanted) {
  std::vector<RunKeyOf> runs = runs_of(source);
  if (wanted == nullptr) return runs;
  std::erase_if(runs, [&](const RunKeyOf& run) { return wanted->count(run.id) == 0; });
  return runs;
}

RunId newest_of_sweep(const Database& database, const std::string& sweep_id) {
  Statement newest =
      database.prepare("SELECT id FROM run WHERE sweep_id = ? ORDER BY started_wall_ns DESC LIMIT 1");
  RunId id;
  if (newest.bind(sweep_id).step()) newest.read(id);
  return id;
}

/// `new_sweep`: of import_sweep; empty: merged whatever sweeps there are.
MergeResult merge(const fs::path& target_file, std::span<const fs::path> sources,
                  const std::set<RunId>* wanted, const std::string& new_sweep = "") {
  std::vector<Database> opened;
  std::vector<std::vector<RunKeyOf>> runs;
  for (const fs::path& source : sources) {
    opened.push_back(open_source(source, target_file));
    runs.push_back(chosen_runs(opened.back(), wanted));
  }
  NewStoreGuard guard(target_file);
  MergeResult result;
  {
    const Database target = open_store(target_file, OpenMode::kReadWrite, builtin_migrations());
    Transaction transaction(target);
    if (!new_sweep.empty()) result.already_there = newest_of_sweep(target, new_sweep);
    for (std::size_t i = 0; result.already_there.empty() && i < opened.size(); ++i) {
      Merge merge(opened[i], target);
      for (const RunKeyOf& run : runs[i]) merge.bring(run, result);
      merge.throw_clashes();
    }
    transaction.commit();
  }
  guard.keep();
  return result;
}

}  // namespace

MergeResult merge_stores(const fs::path& target, std::span<const fs::path> sources) {
  return merge(target, sources, nullptr);
}

MergeResult import_sweep(const fs::path& target, const fs::path& source, const std::string& sweep_id) {
  return merge(target, std::span(&source, 1), nullptr, sweep_id);
}

RunId run_of_sweep(const fs::path& file, const std::string& sweep_id) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return {};
  const auto runs = RunStore::open(file, OpenMode::kReadOnly).runs({.sweep_id = sweep_id, .limit = 1});
  return runs.empty() ? RunId{} : runs.front().id;
}

MergeResult export_runs(const fs::path& source, std::span<const RunId> ids, const fs::path& target) {
  const std::set<RunId> wanted(ids.begin(), ids.end());
  return merge(target, std::span(&source, 1), &wanted);
}

}  // namespace ddbench::store
