#include "analyzer/store/sqlite/migration.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "analyzer/store/sqlite/refresh_case_keys.h"
#include "analyzer/store/sqlite/row_checksum.h"
#include "analyzer/store/sqlite/verify_schema.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/files/temporary_directory.h"
#include "core/unique_handle.h"

namespace ddbench::store {
namespace {

namespace fs = std::filesystem;

bool is_empty(const Database& database) {
  return database.integer("PRAGMA application_id") == 0 && database.integer("PRAGMA user_version") == 0 &&
         database.integer("SELECT count(*) FROM sqlite_schema") == 0;
}

int version_of(const Database& database, std::span<const Migration> migrations) {
  const std::string file = database.file().string();
  if (database.integer("PRAGMA application_id") != kApplicationId) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("{} is no ddbench store but an SQLite database of another program: name another file "
                    "with --db",
                    file),
        0, file);
  }
  const auto version = static_cast<int>(database.integer("PRAGMA user_version"));
  const int latest = migrations.back().version;
  if (version > latest) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("{} has schema version {}, but this ddbench knows versions up to {} only: upgrade "
                    "ddbench to read it",
                    file, version, latest),
        0, file);
  }
  return version;
}

void apply(const Database& database, int version, std::span<const Migration> migrations) {
  const bool had_checksums = has_checksums(database);
  if (had_checksums) forget_wrong_checksums(database);
  for (const Migration& migration : migrations) {
    if (migration.version > version) database.execute(std::string(migration.sql).c_str());
  }
  if (database.prepare("PRAGMA foreign_key_check").step()) {
    throw Error(ErrorCode::kRunFailed, "a migration left rows behind that belong to no run");
  }
  refresh_case_keys(database);
  compute_checksums(database, !had_checksums);
  database.execute(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str());
  database.execute(fmt::format("PRAGMA user_version = {}", migrations.back().version).c_str());
}

[[noreturn]] void fail_to_write(const fs::path& file) {
  throw Error(ErrorCode::kRunFailed, fmt::format("cannot write {}: {}", file.string(), std::generic_category().message(errno)), errno,
              file.string());
}

/// Through a descriptor: who may write the folder of a shared store can exchange the files in it.
void write_as(const struct stat& store, const fs::path& from, const fs::path& file) {
  const UniqueFd source(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd target(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!source || !target) fail_to_write(file);
  constexpr std::size_t kAtOnce = 1 << 30;
  ssize_t sent = 0;
  while ((sent = ::sendfile(target.get(), source.get(), nullptr, kAtOnce)) > 0) continue;
  if (sent < 0) fail_to_write(file);
  if (::fchown(target.get(), static_cast<uid_t>(-1), store.st_gid) != 0) return;  // private, then
  if (::fchmod(target.get(), store.st_mode & 0777) != 0) fail_to_write(file);
}

/// A whole copy. Another connection reads: `database` is about to write and has the lock for it.
void copy_store(const Database& database, const fs::path& file) {
  const Database source(database.file(), Access::kExisting);
  struct stat store {};
  constexpr mode_t kOfOthers = 0077;
  if (::stat(database.file().c_str(), &store) == 0 && (store.st_mode & kOfOthers) != 0) {
    const TemporaryDirectory directory(temporary_root(), fmt::format("backup-{}-{}", ::getpid(), wall_ns()));
    source.copy_to(Database(directory.path() / "copy.db", Access::kCreate));
    return write_as(store, directory.path() / "copy.db", file);
  }
  const Database copy(file, Access::kCreate);
  copy.execute("PRAGMA journal_mode = OFF");  // SQLite would take one that a killed process left for that of the new copy
  source.copy_to(copy);
}

// Removes what it has written unless the copy is complete, and what a killed one has written: whoever holds the store's lock is the
// only one that backs it up.
void back_up(const Database& database, int version) {
  const fs::path backup = fmt::format("{}.v{}.bak", database.file().string(), version);
  const fs::path unfinished = backup.string() + ".unfinished";
  std::error_code ignored;
  fs::remove(unfinished, ignored);
  try {
    copy_store(database, unfinished);
    fs::rename(unfinished, backup);
  } catch (const fs::filesystem_error& error) {
    fs::remove(unfinished, ignored);
    throw Error(ErrorCode::kRunFailed,
                fmt::format("cannot write {}: {}", backup.string(), error.code().message()),
                error.code().value(), backup.string());
  } catch (...) {
    fs::remove(unfinished, ignored);
    throw;
  }
}

void create_or_migrate(const Database& database, std::span<const Migration> migrations) {
  Transaction transaction(database);
  // Looked at again under the lock: another process may have been quicker.
  if (is_empty(database)) {
    apply(database, 0, migrations);
    return transaction.commit();
  }
  const int version = version_of(database, migrations);
  const int latest = migrations.back().version;
  if (version == latest) return;
  try {
    back_up(database, version);
    apply(database, version, migrations);
    transaction.commit();
  } catch (const Error& error) {
    throw Error(error.code(),
                fmt::format("cannot migrate {} from schema version {} to {} (it is unchanged): {}",
                            database.file().string(), version, latest, error.message()),
                error.native_code(), database.file().string());
  }
}

/// A new file waits for the disk once: nothing is in it yet that a journal could save. A run's row takes about 1 KB, of which pages of 4 KiB
/// waste a sixth; SQLite writes 200,000 of them in some two thirds of the time with pages of 16 KiB.
void make_ready_for_log(const Database& database) {
  database.execute("PRAGMA page_size = 16384");
  database.execute("PRAGMA synchronous = OFF");
  database.execute_when_free("PRAGMA journal_mode = WAL");
  database.sync();
  database.execute("PRAGMA synchronous = NORMAL");
}

}  // namespace

bool needs_migration(const Database& database, std::span<const Migration> migrations) {
  if (is_empty(database)) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} is empty: no run has been stored in it yet", database.file().string()), 0,
                database.file().string());
  }
  database.execute("BEGIN");  // one state of it: another process may be migrating
  const bool is_older = version_of(database, migrations) < migrations.back().version;
  verify_schema(database, migrations);
  database.execute("COMMIT");
  return is_older;
}

void migrate(const Database& database, std::span<const Migration> migrations) {
  Transaction transaction(database);
  apply(database, version_of(database, migrations), migrations);
  transaction.commit();
}

void bring_up_to_date(const Database& database, std::span<const Migration> migrations, Journal journal) {
  const bool outdated = is_empty(database) || needs_migration(database, migrations);
  // Only now is it known to be ours: other programs' databases must not be changed.
  if (database.is_read_only()) database.fail(SQLITE_READONLY);
  if (journal == Journal::kLog && is_empty(database)) make_ready_for_log(database);
  if (outdated) create_or_migrate(database, migrations);
}

}  // namespace ddbench::store
