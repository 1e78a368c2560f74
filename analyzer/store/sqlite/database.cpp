#include "analyzer/store/sqlite/database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "analyzer/store/sqlite/row_checksum.h"
#include "analyzer/store/sqlite/sqlite_error.h"
#include "core/error.h"

namespace ddbench::store {
namespace {

// A reader may hold on to a large store for as long as it takes to read it over a network.
constexpr int kWaitForReadersMs = 600'000;

std::string immutable_uri(const std::filesystem::path& file) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(file).string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += c == '%' ? "%25" : c == '?' ? "%3f" : "%23";
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

std::string name_for(const std::filesystem::path& file, Access access) {
  return access == Access::kImmutable ? immutable_uri(file) : file.string();
}

int flags_for(Access access) {
  switch (access) {
    case Access::kExisting: return SQLITE_OPEN_READWRITE;
    case Access::kCreate: return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case Access::kImmutable: return SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  }
  return SQLITE_OPEN_READONLY;
}

/// Stores hold command lines. SQLite gives its own files the mode of the database. Whatever is wrong is found
/// again when the file is opened. It must not be opened here if it exists: closing it would end SQLite's
/// locks.
void make_private_file(const char* name) {
  const UniqueFd created(::open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

/// SQLite would wait for the other end of a FIFO there.
void refuse_irregular_journal(const std::string& journal) {
  std::error_code error;
  const auto type = std::filesystem::symlink_status(journal, error).type();
  if (error || type == std::filesystem::file_type::not_found || type == std::filesystem::file_type::regular) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("SQLite keeps a file of its own at the place of {}, which is no regular file; move that away", journal), 0, journal);
}

/// Throws for a journal of a transaction over several databases, which ddbench never makes: at the next read SQLite would delete the
/// file that such a journal names (super-journal), whoever wrote that name.
void refuse_super_journal(const std::filesystem::path& file) {
  constexpr std::array<unsigned char, 8> kMagic{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};  // sqlite.org/fileformat2.html
  std::array<unsigned char, kMagic.size()> end{};
  const std::string journal = file.string() + "-journal";
  refuse_irregular_journal(journal);
  const UniqueFd fd(::open(journal.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const off_t bytes = fd ? ::lseek(fd.get(), 0, SEEK_END) : 0;
  constexpr auto kCount = static_cast<off_t>(kMagic.size());
  if (bytes < kCount || ::pread(fd.get(), end.data(), end.size(), bytes - kCount) != kCount || end != kMagic) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("{} is a journal of several databases, which is not ddbench's: move it away if you know where it is from", journal), 0,
              journal);
}

/// A store may come from anybody: its schema must not run what its author wrote. ddbench's own has neither
/// views nor triggers.
void restrict_schema(sqlite3* database) {
  for (const int option :
       {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW})
    sqlite3_db_config(database, option, 0, nullptr);
}

/// Nobody asks SQLite how much memory it uses, and counting takes a lock on each allocation. Has no effect once SQLite runs.
void leave_memory_uncounted() {
  static const int once = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  static_cast<void>(once);
}

}  // namespace

Database::Database(std::filesystem::path file, Access access)
    : Database(file, name_for(file, access).c_str(), flags_for(access)) {
  if (access != Access::kImmutable) refuse_super_journal(file_);  // SQLite has opened it, and not read it yet
}

Database Database::temporary(std::filesystem::path file) {
  return Database(std::move(file), "", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

Database::Database(std::filesystem::path file, const char* name, int flags) : file_(std::move(file)) {
  if ((flags & SQLITE_OPEN_CREATE) != 0 && *name != '\0') make_private_file(name);
  leave_memory_uncounted();
  sqlite3* database = nullptr;
  const int status =
      sqlite3_open_v2(name, &database, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, nullptr);
  handle_.reset(database);
  if (status != SQLITE_OK) throw_sqlite_error(handle_.get(), status, file_, "open");
  if (const int added = add_row_checksum_function(database); added != SQLITE_OK) fail(added);
  restrict_schema(database);
  sqlite3_extended_result_codes(database, 1);
  sqlite3_busy_timeout(database, kBusyTimeoutMs);
}

void Database::fail(int status) const {
  throw_sqlite_error(handle_.get(), status, file_, in_transaction() ? "write to" : "use");
}

void Database::execute(const char* sql) const {
  const int status = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (status != SQLITE_OK) fail(status);
}

void Database::sync() const {
  sqlite3_file* file = nullptr;
  const int status = sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (status != SQLITE_OK) fail(status);
  if (file == nullptr || file->pMethods == nullptr) return;  // in memory
  if (const int synced = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL); synced != SQLITE_OK) fail(synced);
}

void Database::wait_for_readers() const {
  busy_timeout_ms_ = kWaitForReadersMs;
  sqlite3_busy_timeout(handle_.get(), busy_timeout_ms_);
}

void Database::execute_when_free(const char* sql) const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(busy_timeout_ms_);
  for (;;) {
    const int status = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
    if (status == SQLITE_OK) return;
    // SQLITE_BUSY_SNAPSHOT, SQLITE_BUSY_RECOVERY and the change to WAL do not wait for the busy timeout.
    if ((status & 0xFF) != SQLITE_BUSY || std::chrono::steady_clock::now() >= deadline) fail(status);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

std::int64_t Database::integer(std::string_view sql) const {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

void Database::copy_to(const Database& target) const {
  const UniqueHandle<sqlite3_backup, sqlite3_backup_finish> backup(
      sqlite3_backup_init(target.handle(), "main", handle(), "main"));
  const int status = backup ? sqlite3_backup_step(backup.get(), -1) : sqlite3_errcode(target.handle());
  if (status != SQLITE_DONE) target.fail(status);
}

bool Database::is_read_only() const {
  return sqlite3_db_readonly(handle_.get(), "main") == 1;
}

bool Database::in_transaction() const {
  return sqlite3_get_autocommit(handle_.get()) == 0;
}

std::int64_t Database::last_insert_key() const {
  return sqlite3_last_insert_rowid(handle_.get());
}

Transaction::Transaction(const Database& database) : database_(database), open_(!database.in_transaction()) {
  if (!open_) return;
  database_.execute_when_free("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  // SQLite may have rolled back by itself, on a full disk for one.
  if (open_ && database_.in_transaction()) {
    sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

void Transaction::commit() {
  if (open_) database_.execute("COMMIT");
  open_ = false;
}

}  // namespace ddbench::store
