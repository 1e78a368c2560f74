#pragma once

#include <filesystem>
#include <string_view>

struct sqlite3;

namespace ddbench::store {

/// Throws the Error for an SQLite status: what failed (`doing`, "open", "write to"), on which file, what to
/// do. kBadInput for a file that is no database and for a violated constraint, kEnvironment for one that
/// this user may not open or write, else kRunFailed. `database` may be null.
[[noreturn]] void throw_sqlite_error(sqlite3* database, int status, const std::filesystem::path& file,
                                     std::string_view doing);

}  // namespace ddbench::store
