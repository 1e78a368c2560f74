#include "analyzer/store/sqlite/sqlite_error.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "core/error.h"

namespace ddbench::store {
namespace {

bool is_out_of_space(int status, int system_errno) {
  const int primary = status & 0xFF;
  return primary == SQLITE_FULL ||
         (primary == SQLITE_IOERR && (system_errno == ENOSPC || system_errno == EDQUOT));
}

std::string read_only_advice(const std::string& file) {
  return fmt::format(
      "{} or its directory is closed to this user or read-only: make both writable, or name another store "
      "with --db",
      file);
}

// SQLite's own errno is that of the last of its attempts, often a file beside the store that need not exist.
bool is_writable(const std::string& file) {
  const std::string directory = std::filesystem::absolute(file).parent_path().string();
  if (access(directory.c_str(), W_OK) != 0) return false;
  return access(file.c_str(), F_OK) != 0 || access(file.c_str(), R_OK | W_OK) == 0;
}

// SQLite's errno does not always show this.
bool is_at_size_limit(const std::string& file) {
  constexpr rlim_t kWrittenAtOnce = 1 << 16;
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return false;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(file + suffix, error);
    if (!error && bytes + kWrittenAtOnce > limit.rlim_cur) return true;
  }
  return false;
}

/// What is wrong with one of the files that SQLite keeps beside the store, and what to do; empty: nothing.
std::string wrong_with_companions(const std::string& file) {
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    const std::string path = file + suffix;
    std::error_code error;
    const auto type = std::filesystem::symlink_status(path, error).type();
    if (error || type == std::filesystem::file_type::not_found) continue;
    if (type != std::filesystem::file_type::regular)
      return fmt::format("SQLite keeps a file of its own at the place of {}, which is no regular file; move that away", path);
    // It may hold what has been stored last.
    if (access(path.c_str(), R_OK | W_OK) != 0)
      return fmt::format("{}, which belongs to it, is closed to this user: make it readable and writable, and leave it where it is", path);
  }
  return {};
}

ErrorCode code_of(int status) {
  switch (status & 0xFF) {
    case SQLITE_NOTADB:
    case SQLITE_CONSTRAINT: return ErrorCode::kBadInput;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN: return ErrorCode::kEnvironment;  // mostly found before a run begins
    default: return ErrorCode::kRunFailed;
  }
}

std::string explain(int status, int system_errno, const std::string& file, const std::string& detail) {
  if (is_out_of_space(status, system_errno)) {
    return fmt::format(
        "the disk of {} is full: free some space there or name a store on another disk with --db (what was "
        "stored before is intact)",
        file);
  }
  if (system_errno == EFBIG || ((status & 0xFF) == SQLITE_IOERR && is_at_size_limit(file))) {
    return fmt::format(
        "{} has reached the size that this process may write (`ulimit -f`): raise that limit (what was "
        "stored before is "
        "intact)",
        file);
  }
  switch (status & 0xFF) {
    case SQLITE_NOTADB: return fmt::format("{} is no ddbench store: it is not an SQLite database", file);
    case SQLITE_CORRUPT:
      return fmt::format(
          "{} is damaged ({}): go back to a copy, or save what can be read with `sqlite3 {} .recover` "
          "(SQLite's own "
          "tool)",
          file, detail, file);
    case SQLITE_PERM:
    case SQLITE_AUTH: return read_only_advice(file);
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      if (!is_writable(file)) return read_only_advice(file);
      [[fallthrough]];
    case SQLITE_IOERR:
      if (const std::string wrong = wrong_with_companions(file); !wrong.empty()) return fmt::format("{} cannot be used: {}", file, wrong);
      return (status & 0xFF) == SQLITE_READONLY ? read_only_advice(file) : fmt::format("{}: {}", file, detail);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fmt::format(
          "another process has kept {} locked for too long: look for a stopped ddbench with `fuser {}`, or "
          "name "
          "another store with --db",
          file, file);
    case SQLITE_CONSTRAINT: return fmt::format("{} does not take this row: {}", file, detail);
    default: return fmt::format("{}: {}", file, detail);
  }
}

}  // namespace

void throw_sqlite_error(sqlite3* database, int status, const std::filesystem::path& file,
                        std::string_view doing) {
  const int system_errno = database == nullptr ? 0 : sqlite3_system_errno(database);
  std::string detail = database == nullptr ? sqlite3_errstr(status) : sqlite3_errmsg(database);
  if (system_errno != 0) detail += fmt::format(", {}", std::generic_category().message(system_errno));
  const ErrorCode code = code_of(status);
  const bool is_in_the_way = code == ErrorCode::kRunFailed && !is_out_of_space(status, system_errno) && !wrong_with_companions(file.string()).empty();
  throw Error(
      is_in_the_way ? ErrorCode::kEnvironment : code,
      fmt::format("cannot {} the store: {}", doing, explain(status, system_errno, file.string(), detail)),
      status, file.string());
}

}  // namespace ddbench::store
