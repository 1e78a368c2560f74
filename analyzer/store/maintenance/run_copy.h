#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/sqlite/database.h"
#include "analyzer/store/sqlite/run_tables.h"

namespace ddbench::store {

struct RunKeyOf {
  RunId id;
  std::int64_t key;
};

/// All runs of a store, oldest first. Throws Error{kBadInput} for an id that ddbench never gave.
std::vector<RunKeyOf> runs_of(const Database& database);

/// A store to read runs from, in one state of it whatever is written meanwhile. Throws Error{kBadInput} if it
/// is `target`.
Database open_source(const std::filesystem::path& file, const std::filesystem::path& target);

/// The rows of one table that belong to one run of either store, prepared once.
class TableCopy {
 public:
  TableCopy(const Database& source, const Database& target, const RunTable& table);

  void copy(std::int64_t source_key, std::int64_t target_key);
  bool same(std::int64_t source_key, std::int64_t target_key);
  /// Whether one of the two runs, or both, have no row in this table.
  bool has_none_in_one(std::int64_t source_key, std::int64_t target_key);
  const std::string& name() const noexcept { return name_; }

 private:
  std::string name_;
  Statement theirs_;
  Statement ours_;
  Statement insert_;
};

/// Brings the runs of one source into the target, within the target's transaction.
class Merge {
 public:
  Merge(const Database& source, const Database& target);

  /// Copies the run, or, where the target has it, compares the two.
  void bring(const RunKeyOf& run, MergeResult& result);
  /// Throws Error{kBadInput}, which names the runs that have another content in the target.
  void throw_clashes() const;
  /// Copies a run that the target does not have.
  void insert(const RunKeyOf& run);
  bool is_in_target(const RunId& id) { return key_in_target(id).has_value(); }

 private:
  std::optional<std::int64_t> key_in_target(const RunId& id);
  /// The column of the run's row, or the table; empty when there is none.
  std::string first_difference(std::int64_t source_key, std::int64_t target_key);

  const Database& source_;
  const Database& target_;
  Statement find_;
  Statement theirs_;
  Statement ours_;
  Statement insert_;
  std::vector<TableCopy> tables_;
  std::vector<std::string> clashes_;
};

}  // namespace ddbench::store
