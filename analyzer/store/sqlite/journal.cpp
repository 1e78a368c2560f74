#include "analyzer/store/sqlite/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>

#include "analyzer/store/sqlite/migration.h"
#include "core/error.h"
#include "core/unique_handle.h"

namespace ddbench::store {
namespace {

namespace fs = std::filesystem;

struct KnownType {
  std::uint64_t type;
  const char* name;
  bool shares_maps;
};

// statfs(2), linux/magic.h, and for those outside of Linux's tree their own headers.
constexpr std::array kKnownTypes{
    KnownType{0xEF53, "ext4", true},         KnownType{0x58465342, "xfs", true},
    KnownType{0x9123683E, "btrfs", true},    KnownType{0x01021994, "tmpfs", true},
    KnownType{0x794C7630, "overlay", true},  KnownType{0x2FC12FC1, "zfs", true},
    KnownType{0xF2F52010, "f2fs", true},     KnownType{0x858458F6, "ramfs", true},
    KnownType{0x6969, "nfs", false},         KnownType{0x517B, "smb", false},
    KnownType{0xFF534D42, "cifs", false},    KnownType{0xFE534D42, "smb2", false},
    KnownType{0x65735546, "fuse", false},    KnownType{0x0BD00BD0, "lustre", false},
    KnownType{0x47504653, "gpfs", false},    KnownType{0x00C36400, "ceph", false},
    KnownType{0x5346414F, "afs", false},     KnownType{0x6B414653, "kafs", false},
    KnownType{0x01021997, "9p", false},      KnownType{0x19830326, "beegfs", false},
    KnownType{0x01161970, "gfs2", false},    KnownType{0x7461636F, "ocfs2", false},
    KnownType{0xAAD7AAEA, "panfs", false},   KnownType{0x18031977, "wekafs", false},
    KnownType{0x73757245, "coda", false},    KnownType{0x786F4256, "vboxsf", false},
    KnownType{0x20030528, "orangefs", false}};

/// A file of no name and its two descriptions; empty where none can be made.
struct ProbeFile {
  UniqueFd first;
  UniqueFd second;

  explicit ProbeFile(const fs::path& directory) {
    std::string name = (directory / ".ddbench-probe-XXXXXX").string();
    first.reset(::mkostemp(name.data(), O_CLOEXEC));
    if (!first) return;
    second.reset(::open(name.c_str(), O_RDWR | O_CLOEXEC));
    ::unlink(name.c_str());
  }
};

constexpr std::size_t kMapBytes = 4096;
using Map = std::unique_ptr<void, void (*)(void*)>;

Map map_of(const UniqueFd& fd) {
  void* const at = ::mmap(nullptr, kMapBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  return {at == MAP_FAILED ? nullptr : at, [](void* mapped) { ::munmap(mapped, kMapBytes); }};
}

/// Why two mappings of a file there do not agree; empty when they do, or when this cannot be determined.
std::string why_maps_differ(const fs::path& directory) {
  const ProbeFile file(directory);
  if (!file.first || !file.second || ::ftruncate(file.first.get(), kMapBytes) != 0) return {};
  const Map first = map_of(file.first);
  const Map second = map_of(file.second);
  if (!first || !second) return "it cannot map files into memory";
  constexpr std::string_view kWord = "ddbench";
  std::memcpy(first.get(), kWord.data(), kWord.size());
  std::array<char, kWord.size()> read{};
  const bool is_read = ::pread(file.second.get(), read.data(), read.size(), 0) == static_cast<ssize_t>(read.size());
  const bool agree = std::memcmp(second.get(), kWord.data(), kWord.size()) == 0 && is_read &&
                     std::memcmp(read.data(), kWord.data(), kWord.size()) == 0;
  return agree ? "" : "two mappings of a file there do not agree";
}

fs::path nearest_directory(fs::path directory) {
  std::error_code ignored;
  directory = fs::absolute(directory, ignored);
  while (!fs::is_directory(directory, ignored) && directory.has_relative_path()) directory = directory.parent_path();
  return directory;
}

/// `count` bytes of the file; false when it is shorter. By SQLite's own descriptor: to close another one would end its locks.
bool read_header(const Database& database, int offset, unsigned char* bytes, int count) {
  sqlite3_file* file = nullptr;
  const int status = sqlite3_file_control(database.handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (status != SQLITE_OK || file == nullptr || file->pMethods == nullptr) return false;
  return file->pMethods->xRead(file, bytes, count, offset) == SQLITE_OK;
}

/// Of the file without its log, whose pages may be newer.
std::uint32_t application_in_file(const Database& database) {
  constexpr int kApplicationIdAt = 68;
  std::array<unsigned char, 4> id{};
  if (!read_header(database, kApplicationIdAt, id.data(), 4)) return 0;
  return static_cast<std::uint32_t>(id[0]) << 24 | static_cast<std::uint32_t>(id[1]) << 16 | static_cast<std::uint32_t>(id[2]) << 8 | id[3];
}

/// A new store may have said in its log alone what it is. In exclusive mode, taken before the first read, the log's index lies in
/// this process's own memory.
bool lock_if_ours(const Database& database) {
  const std::uint32_t application = application_in_file(database);
  if (application != 0 && application != kApplicationId) return false;
  database.execute("PRAGMA locking_mode = EXCLUSIVE");
  database.execute_when_free("PRAGMA application_id");
  return database.integer("PRAGMA application_id") == kApplicationId;
}

}  // namespace

std::string_view to_string(Journal journal) noexcept {
  return journal == Journal::kLog ? "write-ahead log" : "rollback journal";
}

std::optional<FileSystem> known_file_system(std::uint64_t type) {
  for (const KnownType& known : kKnownTypes) {
    if (known.type != type) continue;
    return FileSystem{known.name, known.shares_maps, known.shares_maps ? "" : "it shares no memory between machines"};
  }
  return std::nullopt;
}

FileSystem inspect_file_system(const fs::path& directory) {
  const fs::path existing = nearest_directory(directory);
  struct statfs status {};
  if (::statfs(existing.c_str(), &status) != 0) return {"unknown file system", true, ""};
  // Some architectures' f_type has a sign.
  const std::uint64_t type = static_cast<std::uint32_t>(status.f_type);
  if (auto known = known_file_system(type)) return *known;
  std::string why_not = why_maps_differ(existing);
  return {fmt::format("type {:#x}", type), why_not.empty(), std::move(why_not)};
}

void require_locks(const fs::path& directory, const FileSystem& system) {
  const ProbeFile file(directory);
  if (!file.first) return;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  if (::fcntl(file.first.get(), F_SETLK, &lock) == 0) return;
  const int error = errno;
  throw Error(ErrorCode::kEnvironment,
              fmt::format("a store in {} would be damaged: this file system ({}) takes no locks ({}). Name a store on a "
                          "disk of this machine with --db, and copy its runs with `ddbench db merge`",
                          directory.string(), system.name, std::generic_category().message(error)),
              error, directory.string());
}

std::optional<Journal> journal_of(const Database& database) {
  constexpr int kReadVersionAt = 19;  // sqlite.org/fileformat2.html: 1 a rollback journal, 2 a write-ahead log
  unsigned char version = 0;
  if (!read_header(database, kReadVersionAt, &version, 1)) return std::nullopt;
  return version == 2 ? Journal::kLog : Journal::kRollback;
}

void leave_log(const Database& database) {
  if (journal_of(database) != Journal::kLog || !lock_if_ours(database)) return;
  database.execute_when_free("PRAGMA journal_mode = PERSIST");
  database.execute("PRAGMA locking_mode = NORMAL");
  database.integer("SELECT count(*) FROM sqlite_schema");  // gives the lock back
}

std::string describe_journal(Journal journal, const FileSystem& system) {
  if (journal == Journal::kLog) return fmt::format("write-ahead log on {}", system.name);
  const std::string why = system.shares_maps ? "it was on a file system of several machines once" : system.why_not;
  return fmt::format("rollback journal on {}: {}", system.name, why);
}

}  // namespace ddbench::store
