#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyzer/store/sqlite/statement.h"
#include "core/unique_handle.h"

namespace ddbench::store {

enum class Access {
  kExisting,   ///< for reading and writing where the file allows it; a missing file is an error
  kCreate,     ///< for reading and writing; created when missing
  kImmutable,  ///< for reading, assuming that there is no writer: needs no lock and no file beside the store
};

/// An SQLite connection, for one thread at a time. All errors are thrown as throw_sqlite_error.
class Database {
 public:
  Database(std::filesystem::path file, Access access);
  /// A private database in a temporary file (or memory) that is deleted with the object. Errors name `file`.
  static Database temporary(std::filesystem::path file);

  /// Runs one or more statements without parameters.
  void execute(const char* sql) const;
  /// First column of the first row; 0 without a row.
  std::int64_t integer(std::string_view sql) const;
  /// Compiles each text once: a Statement that has ended leaves what it compiled to the next of the same
  /// text.
  Statement prepare(std::string_view sql) const { return Statement(*this, sql); }
  /// As execute, but waits for other processes where SQLite itself does not, as long as for a lock.
  void execute_when_free(const char* sql) const;
  /// From here on it waits longer for others: where there is no log, writers also wait until all readers have read.
  void wait_for_readers() const;
  /// Returns when what was written to the file (not to its log) is on the disk.
  void sync() const;
  /// Replaces the content of `target` by that of this database.
  void copy_to(const Database& target) const;

  bool is_read_only() const;
  bool in_transaction() const;
  std::int64_t last_insert_key() const;
  const std::filesystem::path& file() const noexcept { return file_; }
  sqlite3* handle() const noexcept { return handle_.get(); }
  [[noreturn]] void fail(int status) const;

 private:
  friend class Statement;
  static constexpr int kBusyTimeoutMs = 60'000;  ///< longer than any transaction of ours: a queue of writers must not lose a run

  Database(std::filesystem::path file, const char* name, int flags);

  std::filesystem::path file_;
  UniqueHandle<sqlite3, sqlite3_close_v2> handle_;
  mutable int busy_timeout_ms_ = kBusyTimeoutMs;
  mutable IdleStatements idle_statements_;
};

/// Takes the write lock at once, waiting for other writers; rolls back unless committed. Inside of another
/// one it is a part of that.
class Transaction {
 public:
  explicit Transaction(const Database& database);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  const Database& database_;
  bool open_ = true;  ///< false: committed, or a part of another one
};

}  // namespace ddbench::store
