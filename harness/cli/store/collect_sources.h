#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace ddbench::cli {

/// A store on another machine.
struct HostSource {
  std::string host;   ///< "node1", "ada@node1": a name that ssh knows
  std::string store;  ///< empty: that user's default store
};

/// A store in a folder of this machine.
struct FileSource {
  std::filesystem::path store;
};

/// A source as the user gave it, and what it stands for.
struct CollectSource {
  std::string name;  ///< in reports, and in the collecting store
  std::variant<HostSource, FileSource> at;
};

/// `text` with a "/" before any ":", or that is "." or "..", is a path: a store, or a folder whose stores
/// (each regular file results.db at any depth; symbolic links are not followed) are sources, in the order of
/// their paths. Everything else is [USER@]HOST[:STORE]. `own`, the collecting store, is left out. Throws
/// Error{kBadInput}, whose message does not repeat `text`, for a path that is not there, a folder without a store, one that cannot
/// be read, and a host that is no name.
std::vector<CollectSource> collect_sources(const std::string& text, const std::filesystem::path& own);

}  // namespace ddbench::cli
