#pragma once

#include <span>

#include "analyzer/store/sqlite/database.h"
#include "analyzer/store/sqlite/migration.h"

namespace ddbench::store {

/// Throws Error{kBadInput} unless the database has exactly the tables and indexes of its schema version. A
/// store may come from anybody: a table, view, trigger or index that ddbench did not make could run SQL of
/// its author when rows are read, merged or deleted. The message names the object and how to remove it.
void verify_schema(const Database& database, std::span<const Migration> migrations);

}  // namespace ddbench::store
