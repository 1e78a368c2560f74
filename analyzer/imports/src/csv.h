#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ddbench::imports {

struct CsvRow {
  int line = 0;  ///< where it begins, from 1
  std::vector<std::string> cells;
};

struct CsvTable {
  CsvRow header;
  std::vector<CsvRow> rows;  ///< as many cells as the header, each
};

/// RFC 4180 with the liberties that read_table names; empty lines are skipped. Throws Error{kBadInput} that
/// names `origin` and line on an open quote, text behind a closed one, a row of another length, a NUL, or no
/// header.
CsvTable read_csv(std::string_view text, const std::string& origin);

}  // namespace ddbench::imports
