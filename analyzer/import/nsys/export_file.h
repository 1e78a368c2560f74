#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/store/sqlite/database.h"

namespace ddbench::imports {

/// An SQLite file that `nsys export` wrote, opened for reading. The file is not trusted: nothing of its
/// schema is executed, and only plain tables are read. All errors are Error{kBadInput} naming the file.
class NsysExport {
 public:
  /// Throws for a file that is not SQLite, an interrupted export, and an export without StringIds.
  explicit NsysExport(std::filesystem::path file);

  bool has(std::string_view table) const { return columns_.contains(std::string(table)); }
  bool has(std::string_view table, std::string_view column) const;
  /// `column` where the table has it, else "NULL": for SELECT.
  std::string or_null(std::string_view table, std::string_view column) const;

  /// Calls `take` for each row of a query. What SQLite finds to be damaged is an Error{kBadInput}.
  template <typename Take>
  void each(const std::string& sql, const Take& take) const {
    guarded([&] {
      store::Statement statement = database_.prepare(sql);
      while (statement.step()) take(statement);
    });
  }
  /// First column of the first row as a number, or a text; 0 or "" without one.
  std::int64_t integer(const std::string& sql) const;
  std::string text(const std::string& sql) const;

  /// A text of StringIds; empty if there is none with this id. The text lives as long as the object.
  std::string_view string(std::int64_t id) const;
  const std::filesystem::path& file() const noexcept { return file_; }
  /// FNV-1a of the file's bytes.
  std::uint64_t hash() const noexcept { return hash_; }
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  void check_header();
  void read_schema();
  template <typename Read>
  void guarded(const Read& read) const;
  void guarded_call(void (*call)(const void*), const void* read) const;

  std::filesystem::path file_;
  std::uint64_t hash_ = 0;
  store::Database database_;
  std::unordered_map<std::string, std::vector<std::string>> columns_;  ///< of each table that is read
  std::unordered_map<std::int64_t, std::string> strings_;
};

template <typename Read>
void NsysExport::guarded(const Read& read) const {
  guarded_call([](const void* to) { (*static_cast<const Read*>(to))(); }, &read);
}

}  // namespace ddbench::imports
