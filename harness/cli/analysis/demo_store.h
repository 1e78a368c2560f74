#pragma once

#include <filesystem>

namespace ddbench::cli {

/// The example store of `ddbench gui --demo`: published figures with their sources (provenance `imported`) and
/// small recorded runs. A copy of share/ddbench/demo/demo.db beside the executable, made once in the user's
/// cache folder ($XDG_CACHE_HOME, or ~/.cache) as ddbench/demo-<hash of its content>.db, and again if the copy has
/// other content. Copies of other versions that nobody has changed are removed then. Returns its path.
/// Throws Error{kEnvironment} where the file is not installed or the cache folder cannot be written.
std::filesystem::path demo_store();

}  // namespace ddbench::cli
