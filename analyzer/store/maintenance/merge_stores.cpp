#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/rows/run_id.h"
#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/sqlite/open_store.h"
#include "analyzer/store/sqlite/run_tables.h"
#include "core/error.h"

namespace ddbench::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNamed = 10;

struct RunKeyOf {
  RunId id;
  std::int64_t key;
};

std::vector<RunKeyOf> runs_of(const Database& database) {
  std::vector<RunKeyOf> runs;
  Statement statement = database.prepare("SELECT id, run_key FROM run ORDER BY run_key");
  while (statement.step()) {
    RunKeyOf& run = runs.emplace_back();
    statement.read(run.id, run.key);
    if (is_run_id(run.id)) continue;
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} holds a run with the id \"{}\", which ddbench never gave (ids look like "
                            "20261121T001905-3f9a1c2b): nothing of this store is taken",
                            database.file().string(), run.id),
                0, database.file().string());
  }
  return runs;
}

/// The rows of one table that belong to one run of either store, prepared once.
class TableCopy {
 public:
  TableCopy(const Database& source, const Database& target, const RunTable& table)
      : name_(table.name),
        theirs_(source.prepare(select_sql(table))),
        ours_(target.prepare(select_sql(table))),
        insert_(target.prepare(fmt::format("INSERT INTO {} (run_key, {}) VALUES (?{})", table.name,
                                           fmt::join(table.columns, ", "), marks(table.columns.size())))) {}

  void copy(std::int64_t source_key, std::int64_t target_key) {
    theirs_.bind(source_key);
    while (theirs_.step()) {
      insert_.bind(target_key);
      for (int column = 0; column < theirs_.columns(); ++column)
        insert_.bind_column(column + 2, theirs_, column);
      insert_.run();
    }
    theirs_.reset();
  }

  bool same(std::int64_t source_key, std::int64_t target_key) {
    theirs_.bind(source_key);
    ours_.bind(target_key);
    bool equal = true;
    for (bool more = true; equal && more;) {
      more = theirs_.step();
      equal = ours_.step() == more;
      for (int column = 0; more && equal && column < theirs_.columns(); ++column) {
        equal = theirs_.same_column(ours_, column);
      }
    }
    theirs_.reset();
    ours_.reset();
    return equal;
  }

  const std::string& name() const noexcept { return name_; }

 private:
  static std::string select_sql(const RunTable& table) {
    return fmt::format("SELECT {} FROM {} WHERE run_key = ? ORDER BY {}", fmt::join(table.columns, ", "),
                       table.name, fmt::join(table.order, ", "));
  }
  static std::string marks(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += ", ?";
    return text;
  }

  std::string name_;
  Statement theirs_;
  Statement ours_;
  Statement insert_;
};

/// Brings the runs of one source into the target.
class Merge {
 public:
  Merge(const Database& source, const Database& target)
      : source_(source),
        target_(target),
        find_(target.prepare("SELECT run_key FROM run WHERE id = ?")),
        theirs_(source.prepare(run_sql(source))),
        ours_(target.prepare(run_sql(source))),
        insert_(target.prepare(insert_run_sql(source))) {
    for (const RunTable& table : run_tables(source)) tables_.emplace_back(source, target, table);
  }

  void bring(const RunKeyOf& run, MergeResult& result) {
    const std::optional<std::int64_t> key = key_in_target(run.id);
    if (!key) {
      insert(run);
      result.added.push_back(run.id);
      return;
    }
    const std::string difference = first_difference(run.key, *key);
    if (difference.empty()) {
      result.unchanged.push_back(run.id);
    } else {
      clashes_.push_back(fmt::format("{} (differs in: {})", run.id, difference));
    }
  }

  void throw_clashes() const {
    if (clashes_.empty()) return;
    const std::span<const std::string> shown(clashes_.data(), std::min(clashes_.size(), kMostNamed));
    throw Error(
        ErrorCode::kBadInput,
        fmt::format(
            "{} run(s) of {} have the id of a run in {} but another content: {}{}; nothing was merged. "
            "Delete one of the two (ddbench db prune) if it is not wanted",
            clashes_.size(), source_.file().string(), target_.file().string(), fmt::join(shown, ", "),
            clashes_.size() > kMostNamed ? ", ..." : ""),
        0, source_.file().string());
  }

 private:
  static std::string run_sql(const Database& database) {
    return fmt::format("SELECT {} FROM run WHERE run_key = ?", fmt::join(run_columns(database), ", "));
  }
  static std::string insert_run_sql(const Database& database) {
    const std::vector<std::string> columns = run_columns(database);
    const std::vector<std::string_view> marks(columns.size(), "?");
    return fmt::format("INSERT INTO run ({}) VALUES ({})", fmt::join(columns, ", "), fmt::join(marks, ", "));
  }

  std::optional<std::int64_t> key_in_target(const RunId& id) {
    find_.bind(id);
    const std::optional<std::int64_t> key = find_.step() ? std::optional(find_.integer(0)) : std::nullopt;
    find_.reset();
    return key;
  }

  void insert(const RunKeyOf& run) {
    theirs_.bind(run.key).step();
    for (int column = 0; column < theirs_.columns(); ++column)
      insert_.bind_column(column + 1, theirs_, column);
    insert_.run();
    theirs_.reset();
    const std::int64_t key = target_.last_insert_key();
    for (TableCopy& table : tables_) table.copy(run.key, key);
  }

  /// The column of the run's row, or the table; empty when there is none.
  std::string first_difference(std::int64_t source_key, std::int64_t target_key) {
    theirs_.bind(source_key).step();
    ours_.bind(target_key).step();
    std::string difference;
    const std::vector<std::string> columns = run_columns(source_);
    for (int column = 0; difference.empty() && column < theirs_.columns(); ++column) {
      if (!theirs_.same_column(ours_, column)) difference = columns[static_cast<std::size_t>(column)];
    }
    theirs_.reset();
    ours_.reset();
    for (TableCopy& table : tables_) {
      if (difference.empty() && !table.same(source_key, target_key)) difference = table.name();
    }
    return difference;
  }

  const Database& source_;
  const Database& target_;
  Statement find_;
  Statement theirs_;
  Statement ours_;
  Statement insert_;
  std::vector<TableCopy> tables_;
  std::vector<std::string> clashes_;
};

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

Database open_source(const fs::path& file, const fs::path& target) {
  std::error_code ignored;
  if (fs::equivalent(file, target, ignored)) {
    throw Error(ErrorCode::kBadInput, fmt::format("{} cannot be merged into itself", file.string()), 0,
                file.string());
  }
  Database source = open_store(file, OpenMode::kReadOnly, builtin_migrations());
  source.execute("BEGIN");  // a consistent state, despite concurrent writers
  return source;
}

/// All runs of the source, or those named.
std::vector<RunKeyOf> chosen_runs(const Database& source, const std::set<RunId>* wanted) {
  std::vector<RunKeyOf> runs = runs_of(source);
  if (wanted == nullptr) return runs;
  std::erase_if(runs, [&](const RunKeyOf& run) { return wanted->count(run.id) == 0; });
  for (const RunId& id : *wanted) {
    if (std::any_of(runs.begin(), runs.end(), [&](const RunKeyOf& run) { return run.id == id; })) continue;
    throw Error(ErrorCode::kBadInput,
                fmt::format("there is no run \"{}\" in the store {}", id, source.file().string()), 0,
                source.file().string());
  }
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
