#include "analyzer/store/sqlite/row_checksum.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "analyzer/store/codec/checksum_mix.h"
#include "analyzer/store/sqlite/database.h"
#include "analyzer/store/sqlite/run_tables.h"

namespace ddbench::store {
namespace {

constexpr const char* kColumn = "checksum";

std::uint64_t mix_bytes(std::uint64_t state, sqlite3_value* value) {
  const auto* bytes = static_cast<const char*>(sqlite3_value_blob(value));
  const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value));
  state = checksum_mix(state, size);
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, std::min(sizeof word, size - at));
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    state = checksum_mix(state, word);
  }
  return state;
}

std::uint64_t mix_value(std::uint64_t state, sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      return checksum_mix(checksum_mix(state, 1), static_cast<std::uint64_t>(sqlite3_value_int64(value)));
    case SQLITE_FLOAT:
      // SQLite stores -0.0 as 0: adding 0 makes the two equal.
      return checksum_mix(checksum_mix(state, 2),
                          std::bit_cast<std::uint64_t>(sqlite3_value_double(value) + 0.0));
    case SQLITE_TEXT: return mix_bytes(checksum_mix(state, 3), value);
    case SQLITE_BLOB: return mix_bytes(checksum_mix(state, 4), value);
    default: return checksum_mix(state, 0);
  }
}

void row_checksum(sqlite3_context* context, int count, sqlite3_value** values) {
  auto state = static_cast<std::uint64_t>(count);
  for (int i = 0; i < count; ++i) state = mix_value(state, values[i]);
  sqlite3_result_int64(context, static_cast<std::int64_t>(state));
}

/// The function's call: the run's id, then the columns in alphabetical order. `run_id` is the SQL of the id, `value_of` gives
/// that of each column.
template <typename ValueOf>
std::string call_sql(std::vector<std::string> columns, const std::string& run_id, ValueOf&& value_of) {
  std::vector<std::string> values;
  if (std::erase(columns, "run_key") > 0) values.push_back(run_id);
  std::erase(columns, kColumn);
  std::sort(columns.begin(), columns.end());
  for (const std::string& column : columns) {
    // A chunk has a checksum of its own in its header, which stands for the rest.
    values.push_back(column == "chunk" ? fmt::format("substr({}, 1, 32)", value_of(column))
                                       : std::string(value_of(column)));
  }
  return fmt::format("row_checksum({})", fmt::join(values, ", "));
}

std::string parameters_call_sql(const std::vector<std::string>& columns) {
  return call_sql(columns, fmt::format("?{}", columns.size() + 1), [&](const std::string& column) {
    return fmt::format("?{}", std::find(columns.begin(), columns.end(), column) - columns.begin() + 1);
  });
}

std::string parameters(std::size_t count) {
  std::string text;
  for (std::size_t i = 1; i <= count; ++i) text += fmt::format("?{}, ", i);
  return text;
}

struct CheckedTable {
  std::string name;
  std::vector<std::string> columns;
  std::vector<std::string> key;
  bool has_run = false;

  std::string checksum_sql() const {
    const std::string run_id = fmt::format("(SELECT id FROM run WHERE run_key = {}.run_key)", name);
    return call_sql(columns, run_id, [&](const std::string& column) { return name + "." + column; });
  }
};

std::vector<CheckedTable> all_tables(const Database& database) {
  std::vector<CheckedTable> tables;
  for (RunTable& table : run_tables(database)) {
    table.columns.push_back("run_key");
    tables.push_back({table.name, std::move(table.columns), std::move(table.order), true});
  }
  tables.push_back({"run", run_columns(database), {"id"}});
  tables.push_back({"baseline", table_columns(database, "baseline"), {"name", "version"}});
  tables.push_back(
      {"baseline_run", table_columns(database, "baseline_run"), {"name", "version", "position"}});
  tables.push_back({"collected_run", table_columns(database, "collected_run"), {"run_id"}});
  tables.push_back({"collected_source", table_columns(database, "collected_source"), {"source"}});
  return tables;
}

bool has_column(const CheckedTable& table) {
  return std::find(table.columns.begin(), table.columns.end(), kColumn) != table.columns.end();
}

std::vector<CheckedTable> checked_tables(const Database& database) {
  std::vector<CheckedTable> tables = all_tables(database);
  std::erase_if(tables, [](const CheckedTable& table) { return !has_column(table); });
  return tables;
}

ChangedRow changed_row(const Statement& row, const CheckedTable& table) {
  ChangedRow changed{table.name, "", ""};
  row.read_one(0, changed.run);
  for (int i = 0; i < static_cast<int>(table.key.size()); ++i) {
    std::string value;
    row.read_one(i + 1, value);
    changed.key += fmt::format("{}{} {}", i == 0 ? "" : ", ", table.key[static_cast<std::size_t>(i)], value);
  }
  return changed;
}

}  // namespace

int add_row_checksum_function(sqlite3* connection) {
  return sqlite3_create_function_v2(connection, "row_checksum", -1,
                                    SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nullptr,
                                    row_checksum, nullptr, nullptr, nullptr);
}

std::string insert_row_sql(std::string_view verb, std::string_view table,
                           const std::vector<std::string>& columns) {
  return fmt::format("{} INTO {} ({}, {}) VALUES ({}{})", verb, table, fmt::join(columns, ", "), kColumn,
                     parameters(columns.size()), parameters_call_sql(columns));
}

std::string update_run_sql(const std::vector<std::string>& columns) {
  return fmt::format("UPDATE run SET ({}, {}) = ({}{}) WHERE id = ?1", fmt::join(columns, ", "), kColumn,
                     parameters(columns.size()), parameters_call_sql(columns));
}

std::vector<ChangedRow> changed_rows(const Database& database, int limit) {
  std::vector<ChangedRow> changed;
  for (const CheckedTable& table : checked_tables(database)) {
    const std::string run = table.has_run
                                ? fmt::format("(SELECT id FROM run WHERE run_key = {}.run_key)", table.name)
                            : table.name == "run" ? "id"
                                                  : "''";
    Statement rows = database.prepare(fmt::format("SELECT {}, {} FROM {} WHERE {} IS NOT {} LIMIT {}", run,
                                                  fmt::join(table.key, ", "), table.name, kColumn,
                                                  table.checksum_sql(), limit));
    while (rows.step()) changed.push_back(changed_row(rows, table));
  }
  return changed;
}

std::vector<std::string> tables_without_checksums(const Database& database) {
  std::vector<std::string> names;
  for (const CheckedTable& table : all_tables(database)) {
    if (!has_column(table)) names.push_back(table.name);
  }
  return names;
}

bool has_checksums(const Database& database) {
  return !checked_tables(database).empty();
}

void forget_wrong_checksums(const Database& database) {
  for (const CheckedTable& table : checked_tables(database)) {
    database
        .prepare(fmt::format("UPDATE {0} SET {1} = NULL WHERE {1} IS NOT {2}", table.name, kColumn,
                             table.checksum_sql()))
        .run();
  }
}

void compute_checksums(const Database& database, bool all) {
  for (const CheckedTable& table : checked_tables(database)) {
    database
        .prepare(fmt::format("UPDATE {0} SET {1} = {2}{3}", table.name, kColumn, table.checksum_sql(),
                             all ? "" : fmt::format(" WHERE {} IS NOT NULL", kColumn)))
        .run();
  }
}

}  // namespace ddbench::store
