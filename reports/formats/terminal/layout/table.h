#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/formats/terminal/layout/cell_width.h"
#include "reports/formats/terminal/layout/paint.h"

namespace ddbench::reports {

inline constexpr std::size_t kColumnGap = 2;  ///< blanks between columns

struct TableColumn {
  std::string title;
  Align align = Align::kRight;
  bool may_shorten = false;  ///< text that may be cut where the table is too wide
  std::size_t least = 8;     ///< the least width of a shortened column
};

struct TableCell {
  std::string text;  ///< no control characters
  Tone tone = Tone::kPlain;
};

/// Aligned columns, separated by kColumnGap blanks.
class Table {
 public:
  explicit Table(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}
  void add_row(std::vector<TableCell> cells);

  /// At most `width` columns wide: shortens columns that allow it, then leaves out columns from the right,
  /// and shows an ellipsis for them. With `keeps_columns` it does neither, and is as wide as its texts. The
  /// title line is omitted when all titles are empty. Ends in a line end.
  std::string render(const Paint& paint, std::size_t indent, std::size_t width, bool keeps_columns = false) const;

 private:
  std::vector<std::size_t> natural_widths() const;
  std::string line(const std::vector<TableCell>& cells, const std::vector<std::size_t>& widths,
                   std::size_t indent, const Paint& paint) const;

  std::vector<TableColumn> columns_;
  std::vector<std::vector<TableCell>> rows_;
};

}  // namespace ddbench::reports
