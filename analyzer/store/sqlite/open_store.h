#pragma once

#include <filesystem>
#include <span>

#include "analyzer/store/sqlite/database.h"
#include "analyzer/store/sqlite/migration.h"
#include "analyzer/store/sqlite/open_mode.h"

namespace ddbench::store {

/// What RunStore::open does, for any list of migrations. The database is ready for use in `mode`.
Database open_store(const std::filesystem::path& file, OpenMode mode, std::span<const Migration> migrations);

}  // namespace ddbench::store
