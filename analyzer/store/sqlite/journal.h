#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/store/sqlite/database.h"

namespace ddbench::store {

/// How a store keeps its transactions whole (FORMAT.md, "Journal").
enum class Journal {
  kLog,       ///< write-ahead log: its index is memory that all processes map, so they must be of one machine
  kRollback,  ///< rollback journal: needs locks and reads that agree, and no shared memory
};
std::string_view to_string(Journal journal) noexcept;  ///< "write-ahead log", "rollback journal"

/// What the file system of a directory lets a store do.
struct FileSystem {
  std::string name;         ///< "ext4", "nfs", "type 0x1234"
  bool shares_maps = true;  ///< all processes that map a file see the same bytes, on whatever machine they are
  std::string why_not;      ///< when it does not
};

/// The file system of `directory`, or of the nearest existing directory above it. Network file systems and
/// FUSE are recognised by the type that statfs reports; one of an unknown type is tested: two mappings of a
/// file must agree. If no test file can be created, it counts as one that shares maps.
FileSystem inspect_file_system(const std::filesystem::path& directory);

/// Pure: by statfs::f_type. Nothing where the type is unknown.
std::optional<FileSystem> known_file_system(std::uint64_t type);

/// Throws Error{kEnvironment} unless a file in `directory` can be locked; no answer (a directory that takes no file) is a yes.
void require_locks(const std::filesystem::path& directory, const FileSystem& system);

/// How the file is kept, by its header; nothing of an empty one. Takes no lock.
std::optional<Journal> journal_of(const Database& database);

/// Call before anything is read from a store on a file system that does not share maps: merges a log that
/// others left, and switches the store permanently to a rollback journal. Waits for its users. Does nothing
/// to a database of another program.
void leave_log(const Database& database);

/// One line for people: "rollback journal: nfs shares no memory between machines".
std::string describe_journal(Journal journal, const FileSystem& system);

}  // namespace ddbench::store
