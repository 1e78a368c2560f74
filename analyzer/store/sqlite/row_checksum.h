#pragma once

#include <sqlite3.h>

#include <string>
#include <string_view>
#include <vector>

namespace ddbench::store {

class Database;

/// Adds the SQL function row_checksum(value, ...) to a connection: 64 bits over types and values (FORMAT.md,
/// "Row checksums"). Returns SQLite's status.
int add_row_checksum_function(sqlite3* connection);

/// SQL that inserts a row with its checksum. `verb`: "INSERT" or "INSERT OR REPLACE". The parameters are the
/// values of `columns`, in this order, and behind them, where one of these is "run_key", the id of that run.
std::string insert_row_sql(std::string_view verb, std::string_view table,
                           const std::vector<std::string>& columns);

/// SQL that replaces all columns of the row of `run` whose id, the first of `columns`, is parameter 1.
std::string update_run_sql(const std::vector<std::string>& columns);

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
