#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ddbench::store {

class Database;

/// Adds the SQL function row_checksum(value, ...) to a connection: 64 bits over types and values (FORMAT.md,
/// "Row checksums"). Returns SQLite's status.
int add_row_checksum_function(sqlite3* connection);

inline constexpr std::string_view kChecksumColumn = "checksum";

/// A value as SQLite stores it; the first is NULL.
using RowValue = std::variant<std::monostate, std::int64_t, double, std::string_view, std::span<const std::byte>>;

/// The order in which the values of a row enter its checksum: the id of its run first, then the columns by name.
class ChecksumOrder {
 public:
  explicit ChecksumOrder(const std::vector<std::string>& columns);

  std::size_t columns() const noexcept { return columns_; }
  /// What row_checksum has of this row: the values of the columns and, behind them, the id of its run where one of the columns is
  /// "run_key". Throws std::logic_error for another number of values.
  std::int64_t checksum(std::span<const RowValue> row) const;

 private:
  std::size_t columns_ = 0;
  std::size_t values_ = 0;          ///< of a row: the columns, and perhaps the id of its run
  std::size_t chunk_ = 0;           ///< the column of chunks; `columns_`: none
  std::vector<std::size_t> order_;  ///< positions in a row
};

/// A row whose checksum does not fit its values.
struct ChangedRow {
  std::string table;
  std::string run;  ///< its id; empty for a row that belongs to no run (a named baseline's)
  std::string key;  ///< "rank 0, step 3"
};

/// At most `limit` a table. Only those of tables that have checksums.
std::vector<ChangedRow> changed_rows(const Database& database, int limit);

/// Tables that should have checksums and do not: their definition is damaged.
std::vector<std::string> tables_without_checksums(const Database& database);

bool has_checksums(const Database& database);

/// Before a migration: sets the wrong checksums to NULL, so that what was damaged stays known as such.
void forget_wrong_checksums(const Database& database);

/// After a migration: computes those of all rows, or only of rows that have one.
void compute_checksums(const Database& database, bool all);

}  // namespace ddbench::store
