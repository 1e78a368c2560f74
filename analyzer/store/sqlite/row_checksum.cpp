#include "analyzer/store/sqlite/row_checksum.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "analyzer/store/codec/checksum_mix.h"
#include "analyzer/store/sqlite/database.h"
#include "analyzer/store/sqlite/run_tables.h"

namespace ddbench::store {
namespace {

// A chunk has a checksum of its own in its header, which stands for the rest.
constexpr std::string_view kChunkColumn = "chunk";
constexpr std::size_t kChunkHeaderBytes = 32;

std::uint64_t mix_bytes(std::uint64_t state, const void* bytes, std::size_t size) {
  state = checksum_mix(state, size);
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, static_cast<const char*>(bytes) + at, std::min(sizeof word, size - at));
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    state = checksum_mix(state, word);
  }
  return state;
}

std::uint64_t mix_value(std::uint64_t state, std::monostate) { return checksum_mix(state, 0); }

std::uint64_t mix_value(std::uint64_t state, std::int64_t value) {
  return checksum_mix(checksum_mix(state, 1), static_cast<std::uint64_t>(value));
}

std::uint64_t mix_value(std::uint64_t state, double value) {
  // SQLite stores -0.0 as 0: adding 0 makes the two equal.
  return checksum_mix(checksum_mix(state, 2), std::bit_cast<std::uint64_t>(value + 0.0));
}

std::uint64_t mix_value(std::uint64_t state, std::string_view value) {
  return mix_bytes(checksum_mix(state, 3), value.data(), value.size());
}

std::uint64_t mix_value(std::uint64_t state, std::span<const std::byte> value) {
  return mix_bytes(checksum_mix(state, 4), value.data(), value.size());
}

std::string_view text_of(sqlite3_value* value) {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_value_text(value));  // UTF-8, however the file stores it
  return {text, static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

std::span<const std::byte> blob_of(sqlite3_value* value) {
  const auto* const bytes = static_cast<const std::byte*>(sqlite3_value_blob(value));
  return {bytes, static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

std::uint64_t mix_value(std::uint64_t state, sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER: return mix_value(state, std::int64_t{sqlite3_value_int64(value)});
    case SQLITE_FLOAT: return mix_value(state, sqlite3_value_double(value));
    case SQLITE_TEXT: return mix_value(state, text_of(value));
    case SQLITE_BLOB: return mix_value(state, blob_of(value));
    default: return mix_value(state, std::monostate());
  }
}

void row_checksum(sqlite3_context* context, int count, sqlite3_value** values) {
  auto state = static_cast<std::uint64_t>(count);
  for (int i = 0; i < count; ++i) state = mix_value(state, values[i]);
  sqlite3_result_int64(context, static_cast<std::int64_t>(state));
}

struct CheckedTable {
  std::string name;
  std::vector<std::string> columns;
  std::vector<std::string> key;
  bool has_run = false;

  /// The function's call, in the order of ChecksumOrder.
  std::string checksum_sql() const {
    std::vector<std::string> sorted = columns;
    std::vector<std::string> values;
    if (std::erase(sorted, "run_key") > 0) values.push_back(fmt::format("(SELECT id FROM run WHERE run_key = {}.run_key)", name));
    std::erase(sorted, kChecksumColumn);
    std::sort(sorted.begin(), sorted.end());
    for (const std::string& column : sorted) {
      values.push_back(column == kChunkColumn ? fmt::format("substr({}.{}, 1, {})", name, column, kChunkHeaderBytes)
                                              : fmt::format("{}.{}", name, column));
    }
    return fmt::format("row_checksum({})", fmt::join(values, ", "));
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
  return std::find(table.columns.begin(), table.columns.end(), kChecksumColumn) != table.columns.end();
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

ChecksumOrder::ChecksumOrder(const std::vector<std::string>& columns) : columns_(columns.size()), values_(columns_), chunk_(columns_) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == kChunkColumn) chunk_ = i;
    order_.push_back(i);
  }
  std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return columns[a] < columns[b]; });
  const auto run_key = std::find(columns.begin(), columns.end(), "run_key");
  if (run_key == columns.end()) return;
  std::erase(order_, static_cast<std::size_t>(run_key - columns.begin()));
  order_.insert(order_.begin(), values_++);
}

std::int64_t ChecksumOrder::checksum(std::span<const RowValue> row) const {
  if (row.size() != values_) throw std::logic_error("a row of another number of values");
  std::uint64_t state = order_.size();
  for (const std::size_t at : order_) {
    RowValue value = row[at];
    if (auto* const chunk = at == chunk_ ? std::get_if<std::span<const std::byte>>(&value) : nullptr) {
      *chunk = chunk->first(std::min(chunk->size(), kChunkHeaderBytes));
    }
    state = std::visit([state](const auto& stored) { return mix_value(state, stored); }, value);
  }
  return static_cast<std::int64_t>(state);
}

std::vector<ChangedRow> changed_rows(const Database& database, int limit) {
  std::vector<ChangedRow> changed;
  for (const CheckedTable& table : checked_tables(database)) {
    const std::string run = table.has_run
                                ? fmt::format("(SELECT id FROM run WHERE run_key = {}.run_key)", table.name)
                            : table.name == "run" ? "id"
                                                  : "''";
    Statement rows = database.prepare(fmt::format("SELECT {}, {} FROM {} WHERE {} IS NOT {} LIMIT {}", run,
                                                  fmt::join(table.key, ", "), table.name, kChecksumColumn,
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
        .prepare(fmt::format("UPDATE {0} SET {1} = NULL WHERE {1} IS NOT {2}", table.name, kChecksumColumn,
                             table.checksum_sql()))
        .run();
  }
}

void compute_checksums(const Database& database, bool all) {
  for (const CheckedTable& table : checked_tables(database)) {
    database
        .prepare(fmt::format("UPDATE {0} SET {1} = {2}{3}", table.name, kChecksumColumn, table.checksum_sql(),
                             all ? "" : fmt::format(" WHERE {} IS NOT NULL", kChecksumColumn)))
        .run();
  }
}

}  // namespace ddbench::store
