#include "analyzer/store/maintenance/run_copy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "analyzer/store/rows/run_id.h"
#include "analyzer/store/sqlite/open_store.h"
#include "core/error.h"

namespace ddbench::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNamed = 10;

std::string select_sql(const RunTable& table) {
  return fmt::format("SELECT {} FROM {} WHERE run_key = ? ORDER BY {}", fmt::join(table.columns, ", "),
                     table.name, fmt::join(table.order, ", "));
}

std::string marks(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += ", ?";
  return text;
}

std::string run_sql(const Database& database) {
  return fmt::format("SELECT {} FROM run WHERE run_key = ?", fmt::join(run_columns(database), ", "));
}

std::string insert_run_sql(const Database& database) {
  const std::vector<std::string> columns = run_columns(database);
  const std::vector<std::string_view> all_marks(columns.size(), "?");
  return fmt::format("INSERT INTO run ({}) VALUES ({})", fmt::join(columns, ", "),
                     fmt::join(all_marks, ", "));
}

}  // namespace

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

TableCopy::TableCopy(const Database& source, const Database& target, const RunTable& table)
    : name_(table.name),
      theirs_(source.prepare(select_sql(table))),
      ours_(target.prepare(select_sql(table))),
      insert_(target.prepare(fmt::format("INSERT INTO {} (run_key, {}) VALUES (?{})", table.name,
                                         fmt::join(table.columns, ", "), marks(table.columns.size())))) {}

void TableCopy::copy(std::int64_t source_key, std::int64_t target_key) {
  theirs_.bind(source_key);
  while (theirs_.step()) {
    insert_.bind(target_key);
    for (int column = 0; column < theirs_.columns(); ++column)
      insert_.bind_column(column + 2, theirs_, column);
    insert_.run();
  }
  theirs_.reset();
}

bool TableCopy::same(std::int64_t source_key, std::int64_t target_key) {
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

bool TableCopy::has_none_in_one(std::int64_t source_key, std::int64_t target_key) {
  const bool both = theirs_.bind(source_key).step() && ours_.bind(target_key).step();
  theirs_.reset();
  ours_.reset();
  return !both;
}

Merge::Merge(const Database& source, const Database& target)
    : source_(source),
      target_(target),
      find_(target.prepare("SELECT run_key FROM run WHERE id = ?")),
      theirs_(source.prepare(run_sql(source))),
      ours_(target.prepare(run_sql(source))),
      insert_(target.prepare(insert_run_sql(source))) {
  for (const RunTable& table : run_tables(source)) tables_.emplace_back(source, target, table);
}

void Merge::bring(const RunKeyOf& run, MergeResult& result) {
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

void Merge::throw_clashes() const {
  if (clashes_.empty()) return;
  const std::span<const std::string> shown(clashes_.data(), std::min(clashes_.size(), kMostNamed));
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("{} run(s) of {} have the id of a run in {} but another content: {}{}; nothing was merged. "
                  "Delete one of the two (ddbench db prune) if it is not wanted",
                  clashes_.size(), source_.file().string(), target_.file().string(), fmt::join(shown, ", "),
                  clashes_.size() > kMostNamed ? ", ..." : ""),
      0, source_.file().string());
}

std::optional<std::int64_t> Merge::key_in_target(const RunId& id) {
  find_.bind(id);
  const std::optional<std::int64_t> key = find_.step() ? std::optional(find_.integer(0)) : std::nullopt;
  find_.reset();
  return key;
}

void Merge::insert(const RunKeyOf& run) {
  theirs_.bind(run.key).step();
  for (int column = 0; column < theirs_.columns(); ++column) insert_.bind_column(column + 1, theirs_, column);
  insert_.run();
  theirs_.reset();
  const std::int64_t key = target_.last_insert_key();
  for (TableCopy& table : tables_) table.copy(run.key, key);
}

std::string Merge::first_difference(std::int64_t source_key, std::int64_t target_key) {
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
    if (!difference.empty()) break;
    // PruneWhat::kSpans deletes these rows and no others.
    if (table.name() == "span_chunk" && table.has_none_in_one(source_key, target_key)) continue;
    if (!table.same(source_key, target_key)) difference = table.name();
  }
  return difference;
}

}  // namespace ddbench::store
