#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "analyzer/store/sqlite/database.h"
#include "analyzer/store/sqlite/journal.h"

namespace ddbench::store {

inline constexpr std::int32_t kApplicationId = 0x4444424E;  // "DDBN"

/// The SQL that makes a store of schema version `version` from one of `version - 1`.
struct Migration {
  int version;
  std::string_view sql;
};

/// schema.sql (version 1), then migrations/*.sql, put into the program when it was built. Versions count up
/// from 1.
std::span<const Migration> builtin_migrations();

/// Brings a store that is open for writing to the last of `migrations`: creates the tables of an empty
/// database, migrates an older one in one transaction after copying it to <file>.v<N>.bak. Throws Error, with
/// the store as it was, when it is not ours, is newer, or cannot be migrated. `journal`: of a database that is empty; a store
/// keeps the one that it has, as another machine that uses it may need that.
void bring_up_to_date(const Database& database, std::span<const Migration> migrations, Journal journal = Journal::kLog);

/// Throws Error{kBadInput} when the database is not ours, is empty, is newer than the last of `migrations`,
/// or has another schema than its version (verify_schema). True when it is older.
bool needs_migration(const Database& database, std::span<const Migration> migrations);

/// Applies what is missing, in one transaction.
void migrate(const Database& database, std::span<const Migration> migrations);

}  // namespace ddbench::store
