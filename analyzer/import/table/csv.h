#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ddbench::imports {

struct CsvRow {
  int line = 0;  ///< where it begins, from 1
  std::vector<std::string> cells;
};

/// Reads RFC 4180 with the liberties that read_table names, row by row; empty lines are skipped. `text` must
/// outlive it. Throws Error{kBadInput} that names `origin` and line on an open quote, text behind a closed
/// one, a row of another length, a NUL, or no header.
class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& origin);

  const CsvRow& header() const noexcept { return header_; }
  /// The next row, with as many cells as the header; false at the end.
  bool next(CsvRow& row);

 private:
  void skip_comments();
  void choose_separator();
  bool read_row(CsvRow& row);
  bool at_line_end() const { return text_[at_] == '\n' || text_[at_] == '\r'; }
  void end_line();
  void read_plain_cell(std::string& cell);
  void read_quoted_cell(std::string& cell, std::size_t column);
  [[noreturn]] void fail(int line, const std::string& what) const;

  std::string_view text_;
  std::string origin_;
  std::size_t at_ = 0;
  int line_ = 1;
  char separator_ = ',';
  CsvRow header_;
};

}  // namespace ddbench::imports
