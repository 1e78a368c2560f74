#include "analyzer/store/sqlite/open_store.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>

#include "analyzer/store/sqlite/journal.h"
#include "core/error.h"
#include "core/files/planted_file.h"

namespace ddbench::store {
namespace {

namespace fs = std::filesystem;

// SQLite leaves an empty file behind when there is no room for the first page: look first.
constexpr std::uintmax_t kRoomForNewStoreBytes = 1024 * 1024;

/// Only this user may enter those that are made.
void make_private_directories(const fs::path& directory, std::error_code& error) {
  if (fs::is_directory(directory, error) || !directory.has_relative_path()) return;
  make_private_directories(directory.parent_path(), error);
  error.clear();
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) error.assign(errno, std::generic_category());
  if (!error && !fs::is_directory(directory, error) && !error)
    error = std::make_error_code(std::errc::not_a_directory);
}

void make_directory_for(const fs::path& file) {
  const fs::path directory = fs::absolute(file).parent_path();
  std::error_code error;
  make_private_directories(directory, error);
  if (error) {
    throw Error(ErrorCode::kEnvironment,
                fmt::format("cannot create the directory {} for the store: {}; name another store with --db",
                            directory.string(), error.message()),
                error.value(), directory.string());
  }
  const fs::space_info space = fs::space(directory, error);
  if (!error && space.capacity > 0 && space.available < kRoomForNewStoreBytes) {  // /proc and the like have none
    throw Error(
        ErrorCode::kEnvironment,
        fmt::format("cannot create the store {}: its disk is full; free some space there or name a store on "
                    "another disk with --db",
                    file.string()),
        ENOSPC, file.string());
  }
}

void refuse_what_is_no_file(const fs::path& file) {
  std::error_code ignored;
  if (fs::is_other(file, ignored))
    throw Error(ErrorCode::kBadInput, fmt::format("{} is a device, a pipe or a socket, not a store: name a file", file.string()), EINVAL, file.string());
  if (!fs::is_directory(file, ignored)) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("{} is a directory, not a store: name a file in it, such as {}", file.string(),
                          (file / "results.db").string()),
              EISDIR, file.string());
}

fs::path directory_of(const fs::path& file) {
  return fs::absolute(file).parent_path();
}

void set_up_for_writing(const Database& database) {
  database.execute("PRAGMA foreign_keys = ON");
  if (journal_of(database) == Journal::kLog) {
    // After a commit, WAL needs no sync to be consistent: a power cut may cost the last transactions, never the
    // store.
    database.execute("PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 67108864;");
    // SQLite counts pages, of which the usual size was 4 KiB.
    constexpr std::int64_t kLogBytes = 4'096'000;
    return database.execute(fmt::format("PRAGMA wal_autocheckpoint = {}", kLogBytes / database.integer("PRAGMA page_size")).c_str());
  }
  // The journal stays beside the store: another machine may know for a while that a file was not there, but asks the server
  // again for what one holds.
  database.wait_for_readers();
  database.execute("PRAGMA journal_mode = PERSIST; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 1048576;");
}

Database open_for_writing(const fs::path& file, std::span<const Migration> migrations) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) make_directory_for(file);
  const FileSystem system = inspect_file_system(directory_of(file));
  if (!system.shares_maps) require_locks(directory_of(file), system);
  Database database(file, Access::kCreate);
  if (!system.shares_maps) leave_log(database);
  bring_up_to_date(database, migrations, system.shares_maps ? Journal::kLog : Journal::kRollback);
  set_up_for_writing(database);
  return database;
}

bool has_unmerged_log(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file.string() + "-wal", error);
  return !error && size > 0;
}

/// What a writer that was killed left: pages of the file are half of its transaction until they are taken back. A journal whose
/// first byte is 0 is only kept for the next transaction.
bool has_hot_journal(const fs::path& file) {
  const fs::path journal = file.string() + "-journal";
  std::error_code error;
  if (const std::uintmax_t size = fs::file_size(journal, error); error || size == 0) return false;
  std::ifstream stream(journal, std::ios::binary);
  return !stream || stream.get() > 0;  // one that cannot be read may be hot
}

[[noreturn]] void refuse_where_it_lies(const fs::path& file, const char* ending, const Error& error) {
  throw Error(ErrorCode::kRunFailed,
              fmt::format("{0} was not closed in order, and {0}{1}, which completes it, cannot be used where it lies: copy both files "
                          "to a directory that can be written to and read them there",
                          file.string(), ending),
              error.native_code(), file.string());
}

/// Without locks, what another machine writes meanwhile would be read as half old and half new.
void refuse_shared(const fs::path& file, const Error& error) {
  const FileSystem system = inspect_file_system(directory_of(file));
  if (system.shares_maps) return;
  throw Error(ErrorCode::kRunFailed,
              fmt::format("{} cannot be read on this file system ({}), on which other machines may write to it: {}; copy it to a disk of "
                          "this machine while nobody writes to it",
                          file.string(), system.name, error.message()),
              error.native_code(), file.string());
}

// SQLite puts two small files beside a store to read it. Where it may not (read-only directory, full disk), a
// store whose log is empty can be read without.
Database open_for_reading(const fs::path& file) {
  try {
    Database database(file, Access::kExisting);
    if (!inspect_file_system(directory_of(file)).shares_maps) leave_log(database);
    if (journal_of(database) == Journal::kRollback) database.wait_for_readers();
    database.integer("SELECT count(*) FROM sqlite_schema");
    return database;
  } catch (const Error& error) {
    const int status = error.native_code() & 0xFF;
    const bool files_refused = status == SQLITE_CANTOPEN || status == SQLITE_READONLY ||
                               status == SQLITE_IOERR || status == SQLITE_FULL;
    if (!files_refused) throw;
    if (has_unmerged_log(file)) refuse_where_it_lies(file, "-wal", error);
    if (has_hot_journal(file)) refuse_where_it_lies(file, "-journal", error);
    if (status == SQLITE_IOERR) refuse_shared(file, error);
    return Database(file, Access::kImmutable);
  }
}

void require_existing(const fs::path& file) {
  std::error_code error;
  if (fs::exists(file, error)) return;
  if (error == std::errc::permission_denied) {
    throw Error(ErrorCode::kEnvironment, fmt::format("{} cannot be reached: its directory is closed to this user", file.string()), EACCES,
                file.string());
  }
  throw Error(ErrorCode::kBadInput, fmt::format("there is no store {}: `ddbench run` makes one, --db names another", file.string()), ENOENT,
              file.string());
}

}  // namespace

Database open_store(const fs::path& file, OpenMode mode, std::span<const Migration> migrations) {
  refuse_what_is_no_file(file);
  refuse_planted_file(file);
  if (mode == OpenMode::kReadWrite) return open_for_writing(file, migrations);

  require_existing(file);
  Database database = open_for_reading(file);
  if (needs_migration(database, migrations)) {
    Database copy = Database::temporary(file);
    database.copy_to(copy);
    migrate(copy, migrations);
    database = std::move(copy);
  }
  database.execute("PRAGMA query_only = ON");
  return database;
}

}  // namespace ddbench::store
