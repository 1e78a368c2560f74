#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "analyzer/store/sqlite/database.h"
#include "analyzer/store/sqlite/row_checksum.h"

namespace ddbench::store {

/// Binds rows, one behind the other, to the parameters of one statement: their values in the order of `columns`, and their checksums.
class RowValues {
 public:
  RowValues(Statement& statement, const ChecksumOrder& order) : statement_(statement), order_(order) {}

  /// All values of the next row and, behind them, the id of its run where one of the columns is "run_key". Texts are not copied and must
  /// stay until the statement has run, but for a temporary std::string, which is copied.
  template <typename... Values>
  void operator()(Values&&... values) {
    const std::array<RowValue, sizeof...(values)> row{value_of(values)...};
    std::size_t left = order_.columns();
    (bind<Values>(values, left), ...);
    statement_.bind_one(++index_, order_.checksum(row));
  }

 private:
  static RowValue value_of(double value) { return std::isnan(value) ? RowValue() : RowValue(value); }
  static RowValue value_of(std::nullptr_t) { return {}; }
  template <typename Value>
  static RowValue value_of(const Value& value) {
    if constexpr (std::is_integral_v<Value>) {
      return static_cast<std::int64_t>(value);
    } else if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
      return std::string_view(value);
    } else {
      return std::span<const std::byte>(value);
    }
  }

  template <typename Value>
  void bind(const std::remove_reference_t<Value>& value, std::size_t& left) {
    if (left == 0) return;
    --left;
    if constexpr (std::is_same_v<Value, std::string>) {
      statement_.bind_one(++index_, value);
    } else {
      statement_.lend_one(++index_, value);
    }
  }

  Statement& statement_;
  const ChecksumOrder& order_;
  int index_ = 0;
};

/// Inserts rows with their checksums into one table, sixteen with one statement where there are as many: a statement opens the table and
/// each of its indexes anew, and looks for the place in each from its root.
class RowInsertion {
 public:
  /// `verb`: "INSERT", "INSERT OR REPLACE", ...; `verb_of_many` is that of a statement with several rows. Where "INSERT" stops at the second
  /// of them it takes the first back, and keeps a journal to be able to; "INSERT OR FAIL" leaves it there.
  RowInsertion(std::string_view verb, std::string_view verb_of_many, std::string_view table, const std::vector<std::string>& columns);
  RowInsertion(std::string_view verb, std::string_view table, const std::vector<std::string>& columns)
      : RowInsertion(verb, verb, table, columns) {}

  /// `bind(values, row)` passes the values of each row to `values`, a RowValues.
  template <typename Row, typename Bind>
  void insert(const Database& database, std::span<const Row> rows, Bind&& bind) const {
    for (; rows.size() >= kMany; rows = rows.subspan(kMany)) insert_at_once(database, many_, rows.first(kMany), bind);
    for (; !rows.empty(); rows = rows.subspan(1)) insert_at_once(database, one_, rows.first(1), bind);
  }

  template <typename... Values>
  void insert_row(const Database& database, const Values&... row) const {
    Statement statement = database.prepare(one_);
    RowValues values(statement, order_);
    values(row...);
    statement.run();
  }

 private:
  static constexpr std::size_t kMany = 16;

  template <typename Row, typename Bind>
  void insert_at_once(const Database& database, const std::string& sql, std::span<const Row> rows, Bind&& bind) const {
    Statement statement = database.prepare(sql);
    RowValues values(statement, order_);
    for (const Row& row : rows) bind(values, row);
    statement.run();
  }

  ChecksumOrder order_;
  std::string one_;
  std::string many_;
};

}  // namespace ddbench::store
