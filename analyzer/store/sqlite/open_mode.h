#pragma once

#include <filesystem>

namespace ddbench::store {

enum class OpenMode {
  /// Never creates or migrates the file; a missing one is an Error{kBadInput}, one in a directory that is closed to this user an
  /// Error{kEnvironment}. An older store is read through a migrated private copy, which does not see later writes. Works in a
  /// read-only directory.
  kReadOnly,
  /// Creates file and directory; where that is not possible, Error{kEnvironment}. Migrates an older store after copying it to
  /// <file>.v<N>.bak.
  kReadWrite,
};

/// The store when `--db` names none: DDBENCH_DB, else $XDG_DATA_HOME/ddbench/results.db, else
/// ~/.local/share/ddbench/results.db. Throws Error{kEnvironment} when there is no home directory either.
std::filesystem::path default_path();

}  // namespace ddbench::store
