#pragma once

#include <string>
#include <vector>

#include "analyzer/store/sqlite/database.h"

namespace ddbench::store {

/// A table whose rows hang on a run by their run_key.
struct RunTable {
  std::string name;
  std::vector<std::string> columns;  ///< all but run_key
  std::vector<std::string> order;    ///< the primary key without run_key; all columns where there is none
};

/// All tables with a run_key but `run` itself, as the schema has them: a table of a later migration is merged
/// like the others.
std::vector<RunTable> run_tables(const Database& database);

/// All columns of a table in the order of its definition; none where there is no such table.
std::vector<std::string> table_columns(const Database& database, const std::string& table);

/// The columns of `run` but run_key.
std::vector<std::string> run_columns(const Database& database);

}  // namespace ddbench::store
