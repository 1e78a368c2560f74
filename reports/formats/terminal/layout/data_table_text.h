#pragma once

#include <cstddef>
#include <string>

#include "reports/formats/terminal/layout/paint.h"
#include "reports/tables/data_table.h"

namespace ddbench::reports {

/// Columns of a line, as of a terminal.
struct LineWidth {
  LineWidth(std::size_t wanted, bool keeps = false)  // NOLINT(google-explicit-constructor): a width is a number
      : columns(wanted), keeps_columns(keeps) {}
  operator std::size_t() const noexcept { return columns; }  // NOLINT(google-explicit-constructor)

  std::size_t columns;
  /// Tables become wider than that rather than leave out columns: for files and pipes.
  bool keeps_columns;
};

Tone tone_of(CellTone tone);

/// A table as text: caption and detail, aligned columns `indent` columns to the right, legend. Texts are shortened as Table does it;
/// prose in the last column continues on further lines. Control characters are shown escaped. Empty without rows and detail.
std::string data_table_text(const DataTable& table, const Paint& paint, LineWidth width, std::size_t indent = 2);

}  // namespace ddbench::reports
