#include "analyzer/store/sqlite/statement.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <new>

#include "analyzer/store/sqlite/database.h"

namespace ddbench::store {

// A store of 200,000 runs is read with a few texts, and compiling one takes longer than running it.
Statement::Statement(const Database& database, std::string_view sql) : database_(&database) {
  if (const auto idle = database.idle_statements_.find(sql); idle != database.idle_statements_.end()) {
    in_table_ = database.idle_statements_.extract(idle);
    handle_ = std::move(in_table_.mapped());
    return;
  }
  sqlite3_stmt* statement = nullptr;
  const int status =
      sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  handle_.reset(statement);
  check(status);
}

Statement::~Statement() {
  if (!handle_) return;
  sqlite3_reset(handle_.get());
  sqlite3_clear_bindings(handle_.get());
  try {
    if (in_table_) {
      in_table_.mapped() = std::move(handle_);
      database_->idle_statements_.insert(std::move(in_table_));
    } else {
      database_->idle_statements_.try_emplace(sqlite3_sql(handle_.get()), std::move(handle_));
    }
  } catch (const std::bad_alloc&) {
    // It is compiled again next time.
  }
}

void Statement::check(int status) const {
  if (status != SQLITE_OK) database_->fail(status);
}

void Statement::bind_one(int index, std::string_view value) {
  // A null pointer would bind NULL.
  const char* text = value.empty() ? "" : value.data();
  check(sqlite3_bind_text64(handle_.get(), index, text, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::lend_one(int index, std::string_view value) {
  const char* text = value.empty() ? "" : value.data();
  check(sqlite3_bind_text64(handle_.get(), index, text, value.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void Statement::bind_one(int index, std::span<const std::byte> value) {
  if (value.empty()) {
    check(sqlite3_bind_zeroblob(handle_.get(), index, 0));
  } else {
    check(sqlite3_bind_blob64(handle_.get(), index, value.data(), value.size(), SQLITE_TRANSIENT));
  }
}

void Statement::bind_one(int index, double value) {
  if (std::isnan(value)) return bind_one(index, nullptr);
  check(sqlite3_bind_double(handle_.get(), index, value));
}

void Statement::bind_one(int index, std::int64_t value) {
  check(sqlite3_bind_int64(handle_.get(), index, value));
}

void Statement::bind_one(int index, std::nullptr_t) {
  check(sqlite3_bind_null(handle_.get(), index));
}

bool Statement::step() {
  const int status = sqlite3_step(handle_.get());
  if (status == SQLITE_ROW) return true;
  if (status == SQLITE_DONE) return false;
  database_->fail(status);
}

void Statement::run() {
  while (step()) {
  }
  reset();
}

void Statement::reset() noexcept {
  sqlite3_reset(handle_.get());
}

void Statement::read_one(int column, std::string& value) const {
  const unsigned char* text = sqlite3_column_text(handle_.get(), column);
  const int size = sqlite3_column_bytes(handle_.get(), column);
  value.assign(text == nullptr ? "" : reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
}

void Statement::read_one(int column, double& value) const {
  value = is_null(column) ? std::numeric_limits<double>::quiet_NaN()
                          : sqlite3_column_double(handle_.get(), column);
}

void Statement::read_one(int column, std::int64_t& value) const {
  value = integer(column);
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

int Statement::columns() const noexcept {
  return sqlite3_column_count(handle_.get());
}

void Statement::bind_column(int index, const Statement& row, int column) {
  check(sqlite3_bind_value(handle_.get(), index, sqlite3_column_value(row.handle_.get(), column)));
}

bool Statement::same_column(const Statement& other, int column) const {
  sqlite3_stmt* mine = handle_.get();
  sqlite3_stmt* theirs = other.handle_.get();
  const int type = sqlite3_column_type(mine, column);
  if (type != sqlite3_column_type(theirs, column)) return false;
  if (type == SQLITE_NULL) return true;
  if (type == SQLITE_INTEGER) return integer(column) == other.integer(column);
  if (type == SQLITE_FLOAT) {
    return std::bit_cast<std::uint64_t>(sqlite3_column_double(mine, column)) ==
           std::bit_cast<std::uint64_t>(sqlite3_column_double(theirs, column));
  }
  const std::span<const std::byte> bytes = blob(column);
  const std::span<const std::byte> their_bytes = other.blob(column);
  return std::equal(bytes.begin(), bytes.end(), their_bytes.begin(), their_bytes.end());
}

std::span<const std::byte> Statement::blob(int column) const {
  const void* bytes = sqlite3_column_blob(handle_.get(), column);
  const int size = sqlite3_column_bytes(handle_.get(), column);
  return {static_cast<const std::byte*>(bytes), static_cast<std::size_t>(size)};
}

}  // namespace ddbench::store
