#pragma once

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/unique_handle.h"

namespace ddbench::store {

class Database;

using CompiledStatement = UniqueHandle<sqlite3_stmt, sqlite3_finalize>;

/// Looks texts up without copying them, and by their ends: they are long, and differ in table or columns.
struct SqlHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view sql) const noexcept {
    constexpr std::size_t kEnd = 64;
    const std::hash<std::string_view> hash;
    return sql.size() ^ hash(sql.substr(0, kEnd)) ^ (hash(sql.substr(sql.size() - std::min(sql.size(), kEnd))) << 1);
  }
};
/// Compiled statements that are not in use, by their SQL.
using IdleStatements = std::unordered_map<std::string, CompiledStatement, SqlHash, std::equal_to<>>;

/// A prepared statement of a Database, which must outlive it. Throws as throw_sqlite_error.
class Statement {
 public:
  Statement(const Database& database, std::string_view sql);
  Statement(Statement&&) noexcept = default;
  Statement& operator=(Statement&&) = delete;
  Statement(const Statement&) = delete;
  ~Statement();

  /// Binds all parameters, first to last. Values are copied. NaN becomes NULL; unsigned 64-bit values keep
  /// their bits.
  template <typename... Values>
  Statement& bind(const Values&... values) {
    int index = 0;
    (bind_one(++index, values), ...);
    return *this;
  }
  /// For a number of parameters known at run time only; counts from 1.
  void bind_one(int index, std::string_view value);
  void bind_one(int index, const std::string& value) { bind_one(index, std::string_view(value)); }
  void bind_one(int index, const char* value) { bind_one(index, std::string_view(value)); }
  void bind_one(int index, std::span<const std::byte> value);
  void bind_one(int index, double value);
  void bind_one(int index, std::int64_t value);
  void bind_one(int index, std::uint64_t value) { bind_one(index, static_cast<std::int64_t>(value)); }
  void bind_one(int index, std::uint32_t value) { bind_one(index, static_cast<std::int64_t>(value)); }
  void bind_one(int index, int value) { bind_one(index, static_cast<std::int64_t>(value)); }
  void bind_one(int index, bool value) { bind_one(index, static_cast<std::int64_t>(value)); }
  void bind_one(int index, std::nullptr_t);

  /// The same without copying texts: they must stay until others are bound or the Statement ends.
  void lend_one(int index, std::string_view value);
  void lend_one(int index, const std::string& value) { lend_one(index, std::string_view(value)); }
  void lend_one(int index, const char* value) { lend_one(index, std::string_view(value)); }
  template <typename Value>
  void lend_one(int index, const Value& value) {
    bind_one(index, value);
  }

  /// True when there is a row to read.
  bool step();
  /// Steps to the end and makes ready for other values.
  void run();
  void reset() noexcept;

  /// Reads the columns of the row, first to last. NULL is read as NaN, 0 or an empty text.
  template <typename... Values>
  void read(Values&... values) const {
    int column = 0;
    (read_one(column++, values), ...);
  }
  void read_one(int column, std::string& value) const;
  void read_one(int column, double& value) const;
  void read_one(int column, std::int64_t& value) const;
  void read_one(int column, bool& value) const { value = integer(column) != 0; }
  template <typename Integer>
  void read_one(int column, Integer& value) const {
    value = static_cast<Integer>(integer(column));
  }
  std::int64_t integer(int column) const;
  bool is_null(int column) const;
  /// Valid until the next step or reset.
  std::span<const std::byte> blob(int column) const;
  int columns() const noexcept;

  /// Binds what `row` holds in `column` (from 0), of whatever type.
  void bind_column(int index, const Statement& row, int column);
  /// True when this row and that of `other` hold the same in `column`, type and bits.
  bool same_column(const Statement& other, int column) const;

 private:
  void check(int status) const;

  const Database* database_;
  CompiledStatement handle_;           ///< empty: moved from
  IdleStatements::node_type in_table_;  ///< its place in the table of idle ones, once it had one
};

}  // namespace ddbench::store
